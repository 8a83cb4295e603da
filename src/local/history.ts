import { firstLater, type HistoryPage, type HistorySource, type TrackOperation } from "../engine/index.js";

/** Events that the engine is given at once. */
const PAGE = 1_000;

/** The evaluated events of one customer, by name and in order of (occurrence, acceptance): what the engine may ask for. */
export class EventHistory {
  readonly #byName = new Map<string, TrackOperation[]>();

  add(event: TrackOperation): void {
    const events = this.#byName.get(event.event);
    if (events === undefined) this.#byName.set(event.event, [event]);
    else events.splice(firstLater(events, event), 0, event);
  }

  readonly source: HistorySource = ({ event, after, until }): HistoryPage => {
    const events = this.#byName.get(event) ?? [];
    const from = firstLater(events, after);
    const to = until === null ? events.length : firstLater(events, until);
    return { events: events.slice(from, Math.min(to, from + PAGE)), complete: to - from <= PAGE };
  };
}
