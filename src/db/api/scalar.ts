import type { PendingQuery } from "postgres";

/** What a query answers that selects one thing, `as answer`. */
export type Rows<Answer = string> = readonly { answer: Answer }[];

/** The answer of a call's one row. */
export async function scalar<Answer>(query: PromiseLike<Rows<Answer>>): Promise<Answer> {
  const [row] = await query;
  if (row === undefined) throw new Error("the database answered no row");
  return row.answer;
}

/** As `one`, of a call that answers one text, in UTF-8: what may be many megabytes is passed on, not decoded and encoded again. */
export async function scalarBytes(query: PendingQuery<Rows>): Promise<Buffer> {
  const [row] = await query.raw();
  const [bytes] = row ?? [];
  if (bytes === undefined) throw new Error("the database answered no row");
  return bytes;
}
