import type { TransactionSql } from "postgres";
import type { HistoryEvent, HistoryPage, HistoryRequest, Json } from "../engine/index.js";

/** An evaluated event, read again to rebuild condition memory. */
export interface HistoryRow {
  customerId: string;
  seq: number;
  event: string;
  properties: Record<string, Json>;
  occurredAt: number;
}

/** Of at most 64 KiB each. */
const CURSOR_ROWS = 500;

/** The evaluated events of some customers, customer by customer, in order to the microsecond; a part of them in memory at a time. */
export async function* loadHistory(
  tx: TransactionSql,
  environmentId: number,
  customerIds: string[],
  events: string[],
): AsyncGenerator<HistoryRow> {
  const parts = tx<HistoryRow[]>`
    select customer_id as "customerId", event_seq::float8 as seq, event, properties,
      floor(extract(epoch from occurred_at) * 1000)::float8 as "occurredAt"
    from svc_api.load_history(${environmentId}, ${customerIds}, ${events})`.cursor(CURSOR_ROWS);
  for await (const part of parts) yield* part;
}

/** A request of the engine for evaluated events of one customer. */
export interface CustomerRequest {
  customerId: string;
  request: HistoryRequest;
}

export interface PageRow {
  events: [seq: number, occurredAt: number, properties: Record<string, Json>][];
  complete: boolean;
}

/**
 * Answers to requests, by position, all in one call.
 *
 * @param pageSize how many events an answer holds, if there are more; fewer where they have more than 1.6 kB on average, a few more where
 *   they are of one millisecond
 */
export async function loadHistoryPages(
  tx: TransactionSql,
  environmentId: number,
  requests: readonly CustomerRequest[],
  pageSize: number,
): Promise<HistoryPage[]> {
  const asked = JSON.stringify(requests.map(({ customerId, request }) => ({ customerId, ...request })));
  const rows = await tx<PageRow[]>`
    select p.events, p.complete
    from svc_api.load_history_pages(${environmentId}, ${asked}::text::json, ${pageSize}) as p
    order by p.request`;
  return pagesOf(
    rows,
    requests.map(({ request }) => request),
  );
}

/** The rows of an answer as pages, by the requests' positions. */
export function pagesOf(rows: readonly PageRow[], requests: readonly HistoryRequest[]): HistoryPage[] {
  return rows.map(({ events, complete }, position) => {
    const { event } = requests[position]!;
    const read = events.map(([seq, occurredAt, properties]): HistoryEvent => ({ event, seq, occurredAt, properties }));
    return { events: read, complete };
  });
}
