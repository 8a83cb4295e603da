import type { HistoryPage, HistorySource, TrackOperation } from "../engine/index.js";
import type { Order } from "../engine/types.js";

/** Events that the engine is given at once. */
const PAGE = 1_000;

/** The evaluated events of one customer, by name and in order of (occurrence, acceptance): what the engine may ask for. */
export class EventHistory {
  readonly #byName = new Map<string, TrackOperation[]>();

  add(event: TrackOperation): void {
    const events = this.#byName.get(event.event);
    if (events === undefined) this.#byName.set(event.event, [event]);
    else events.splice(firstAfter(events, event), 0, event);
  }

  readonly source: HistorySource = ({ event, after, until }): HistoryPage => {
    const events = this.#byName.get(event) ?? [];
    const from = firstAfter(events, after);
    const to = until === null ? events.length : firstAfter(events, until);
    return { events: events.slice(from, Math.min(to, from + PAGE)), complete: to - from <= PAGE };
  };
}

/** The position of the first event that is later in order; most events are added at the end, so it is looked for there first. */
function firstAfter(events: readonly TrackOperation[], order: Order): number {
  const last = events.at(-1);
  if (last === undefined || !isLater(last, order)) return events.length;
  let low = 0;
  let high = events.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (isLater(events[middle]!, order)) high = middle;
    else low = middle + 1;
  }
  return low;
}

function isLater(event: Order, than: Order): boolean {
  return event.occurredAt > than.occurredAt || (event.occurredAt === than.occurredAt && event.seq > than.seq);
}
