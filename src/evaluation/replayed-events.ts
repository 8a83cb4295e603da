import type { AnswerOf } from "../db/api/call.js";
import type { EventLists, PageEnd } from "../db/api/recompute.js";
import { eventIdOf, type TrackedEvent } from "../engine/index.js";

/** Events in the engine's order: by milliseconds, then by acceptance. The database orders by microseconds. */
export function eventsOf({ seqs, at, names, properties }: EventLists): TrackedEvent[] {
  if (seqs === null || at === null || names === null || properties === null) return [];
  const events = seqs.map((seq, i): TrackedEvent => ({
    seq,
    eventId: eventIdOf(seq),
    event: names[i]!,
    occurredAt: at[i]!,
    properties: properties[i] ?? {},
  }));
  const isInOrder = seqs.every((seq, i) => i === 0 || at[i] !== at[i - 1] || seq > seqs[i - 1]!);
  if (!isInOrder) events.sort((a, b) => a.occurredAt - b.occurredAt || a.seq - b.seq);
  return events;
}

/** A page of a customer's evaluated events, in the database's order. */
export type ReplayedPage = AnswerOf<"read_recompute_events">;

/** The place before the first page. */
export const BEGINNING: PageEnd = { lastAt: null, lastSeq: null };

/**
 * All evaluated events of a customer in the engine's order, in parts; the last one may be empty. While the consumer processes a part, the
 * next page is read.
 *
 * @param readPage reads the page after a place
 */
export async function* eventParts(
  readPage: (after: PageEnd) => Promise<ReplayedPage>,
): AsyncGenerator<{ events: TrackedEvent[]; isLast: boolean }> {
  let held: TrackedEvent[] = [];
  let next = readPage(BEGINNING);
  try {
    for (let isLast = false; !isLast;) {
      const page = await next;
      isLast = !page.more;
      if (page.more) {
        next = readPage(page);
        // Avoid an unhandled rejection: a failure surfaces when the page is awaited.
        next.catch(() => undefined);
      }
      const read = eventsOf(page.events);
      // The database orders by microseconds, so an event of the last millisecond may be followed by one that precedes it in the engine's order.
      const events = [...held, ...read].sort((a, b) => a.occurredAt - b.occurredAt || a.seq - b.seq);
      const cut = isLast
        ? events.length
        : events.findIndex(({ occurredAt }) => occurredAt === events.at(-1)!.occurredAt);
      held = events.splice(cut);
      if (events.length > 0 || isLast) yield { events, isLast };
    }
  } finally {
    // If the consumer stops early, wait until the pending read has released the connection.
    await next.catch(() => undefined);
  }
}
