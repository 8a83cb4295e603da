import type { ApiAnswer, Api, ApiPath, ListPage, Query } from "../client/api.js";
import { elementTexts, memberTexts, objectText } from "./json-text.js";
import type { Out } from "./out.js";
import { PAGE } from "../client/pages.js";
import { retryTransient } from "../client/retry-transient.js";
import { type Column, table } from "./table.js";
import { shellWord } from "./text.js";

/** What of a list to read, and how much. */
export interface ListQuery extends Query {
  limit: number;
  /** Where a part read before ended. */
  cursor?: string | undefined;
}

/**
 * Reads a list page by page until there is as much as asked for, or it ends: pages may be short, even empty, and go on all the same.
 *
 * @param members that the answer has beside the page's; they are those of the first page
 * @returns the pages as one, in its text too
 */
export async function readList<Row, More extends object = object>(
  api: Api,
  path: ApiPath,
  { limit, cursor, ...query }: ListQuery,
  members: readonly (keyof More & string)[] = [],
): Promise<ApiAnswer<ListPage<Row> & More>> {
  const read = (most: number, from: string | undefined) =>
    api.get<ListPage<Row> & More>(path, ["data", "nextCursor", ...members], {
      ...query,
      limit: Math.min(most, PAGE),
      cursor: from,
    });
  const first = await read(limit, cursor);
  const pages = [first];
  let count = first.data.data.length;
  let next = first.data.nextCursor;
  while (next !== null && count < limit) {
    const from = next;
    const page = await retryTransient(() => read(limit - count, from));
    pages.push(page);
    count += page.data.data.length;
    next = page.data.nextCursor;
  }
  return pages.length === 1 ? first : joined(first, pages, next);
}

function joined<T extends ListPage<unknown>>(
  first: ApiAnswer<T>,
  pages: readonly ApiAnswer<T>[],
  nextCursor: string | null,
) {
  const items = pages.flatMap(({ text }) => elementTexts(memberTexts(text).get("data") ?? "[]"));
  const members = new Map(memberTexts(first.text));
  members.set("data", `[${items.join(",")}]`).set("nextCursor", JSON.stringify(nextCursor));
  const data = pages.flatMap((page) => page.data.data);
  return { ...first, data: { ...first.data, data, nextCursor }, text: objectText(members) };
}

export interface PageView<Row> {
  /** What to say instead of an empty table. */
  none: string;
  columns: readonly Column<Row>[];
  /** Lines above the table. */
  heading?: string;
}

/** Prints a part of a list, and how to get the next one. */
export function page<Row>(out: Out, answer: ApiAnswer<ListPage<Row>>, { none, columns, heading }: PageView<Row>): void {
  const { data } = answer.data;
  out.result(answer, () =>
    [...(heading === undefined ? [] : [heading, ""]), data.length === 0 ? none : table(out, columns, data)].join("\n"),
  );
  noteMore(out, answer.data);
}

/** Says, beside what was printed, how to go on where a list does. */
export function noteMore(out: Out, { nextCursor }: ListPage<unknown>): void {
  if (!out.json && nextCursor !== null) out.note(`There are more: add --cursor ${shellWord(nextCursor)}`);
}
