/** What a query answers that selects one thing, `as answer`. */
export type Rows<Answer = string> = readonly { answer: Answer }[];

/** The answer of a call's one row. */
export async function one<Answer>(query: PromiseLike<Rows<Answer>>): Promise<Answer> {
  const [row] = await query;
  if (row === undefined) throw new Error("the database answered no row");
  return row.answer;
}
