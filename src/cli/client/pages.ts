import type { ApiAnswer, Api, ApiPath, ListPage, Query } from "./api.js";
import { retryTransient } from "./retry-transient.js";

/** What the service gives at most in one page. */
export const PAGE = 200;

/** How `readAll` reads. */
export interface PageReading {
  /** How many items a page has at most. */
  pageLength?: number | undefined;
  signal?: AbortSignal | undefined;
  /** Whether to try again for a while what fails and may pass. */
  patient?: boolean;
}

/** Reads a list page by page, to its end or as far as whoever reads it wants. */
export async function* readAll<Row>(
  api: Api,
  path: ApiPath,
  query: Query = {},
  { pageLength = PAGE, signal, patient = false }: PageReading = {},
): AsyncGenerator<ApiAnswer<ListPage<Row>>> {
  let cursor: string | undefined;
  do {
    const asked = { ...query, limit: pageLength, cursor };
    const read = () => api.get<ListPage<Row>>(path, ["data", "nextCursor"], asked, signal);
    const page = await (patient ? retryTransient(read) : read());
    yield page;
    cursor = page.data.nextCursor ?? undefined;
  } while (cursor !== undefined);
}
