import {
  firstLater,
  isLater,
  type HistoryEvent,
  type HistoryPage,
  type HistoryRequest,
  type HistorySource,
} from "../engine/index.js";

type Order = HistoryRequest["after"];

/** All events of one name later than `after`, up to and including `through` (null: to the end), earliest first. */
interface Range {
  after: Order;
  through: Order | null;
  events: readonly HistoryEvent[];
}

/** What of one customer's evaluated events was fetched so far, while the customer is being evaluated. */
export class HistoryAtHand {
  readonly #rangesOf = new Map<string, Range[]>();

  /** Takes in the answer to a request. */
  add({ event, after, until }: HistoryRequest, { events, complete }: HistoryPage): void {
    const ranges = this.#rangesOf.get(event);
    const range = { after, through: complete ? until : orderOf(events.at(-1)!), events };
    if (ranges === undefined) this.#rangesOf.set(event, [range]);
    else ranges.push(range);
  }

  /** Answers a request from what is at hand, as far as that goes. */
  readonly source: HistorySource = ({ event, after, until }) => {
    for (const range of this.#rangesOf.get(event) ?? []) {
      if (isLater(range.after.occurredAt, range.after.seq, after)) continue;
      const from = firstLater(range.events, after);
      const to = until === null ? range.events.length : firstLater(range.events, until);
      const complete =
        range.through === null || (until !== null && !isLater(until.occurredAt, until.seq, range.through));
      if (complete || from < to) return { events: range.events.slice(from, to), complete };
    }
    return undefined;
  };
}

function orderOf({ occurredAt, seq }: HistoryEvent): Order {
  return { occurredAt, seq };
}
