import type { ListPage } from "../http/admin/answers.js";

/** The most pages of a list that are read for a page of the console. */
const PAGES_MAX = 10;

/** Which part of a list a page is to have, as the administrative API takes it. */
export interface ListPart {
  limit: string;
  cursor: string | undefined;
}

/**
 * Reads a list on until it has `enough` items or ends: the API looks at a limited number of items for each page, which is short or even
 * empty if few of them pass the filters. The result has at most `limit` items; it has a `nextCursor` if there may be more.
 */
export async function readOn<Item>(
  page: (part: ListPart) => Promise<ListPage<Item>>,
  { limit, enough = limit, cursor }: { limit: number; enough?: number; cursor?: string | undefined },
): Promise<ListPage<Item>> {
  const data: Item[] = [];
  let nextCursor = cursor ?? null;
  for (let pages = 0; pages < PAGES_MAX; pages++) {
    const found = await page({ limit: String(limit - data.length), cursor: nextCursor ?? undefined });
    data.push(...found.data);
    ({ nextCursor } = found);
    if (nextCursor === null || data.length >= enough) break;
  }
  return { data, nextCursor };
}
