import type { HistoryPage, HistoryRequest, Order } from "./types.js";
import type { Working } from "./working.js";

/**
 * Thrown where an evaluation needs evaluated events that are not at hand. The evaluation is pure: fetch what `requests`
 * name, and call again from the same state.
 */
export class HistoryNeeded extends Error {
  override readonly name = "HistoryNeeded";

  constructor(readonly requests: readonly HistoryRequest[]) {
    super(
      `the evaluation needs earlier events of ${requests.map(({ event }) => JSON.stringify(event)).join(", ")}; ` +
        `fetch what the requests of this error name and evaluate again`,
    );
  }
}

/** @throws {HistoryNeeded} if the answer is not at hand */
export function readHistory(customer: Working, request: HistoryRequest): HistoryPage {
  const page = customer.history(request);
  if (page === undefined) throw new HistoryNeeded([request]);
  return page;
}

/**
 * Reads evaluated events of one name, page by page, earliest first.
 *
 * @param take gets each event, and stops the reading by returning false
 * @returns whether everything asked for was read
 * @throws {HistoryNeeded} if a page is not at hand
 */
export function eachOfHistory(
  customer: Working,
  request: HistoryRequest,
  take: (event: HistoryPage["events"][number]) => boolean,
): boolean {
  let { after } = request;
  for (;;) {
    const { events, complete } = readHistory(customer, { ...request, after });
    for (const event of events) if (!take(event)) return false;
    const last = events.at(-1);
    if (complete || last === undefined) return true;
    after = { occurredAt: last.occurredAt, seq: last.seq };
  }
}

/** The last place in order before an occurrence. */
export function justBefore({ occurredAt, seq }: Order): Order {
  return { occurredAt, seq: seq - 1 };
}
