import type { TrackOperation } from "../../src/engine/index.js";

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 1);

/** How many of a hundred events have each name. */
const MIX: readonly [event: string, share: number][] = [
  ["page_viewed", 50],
  ["feature_used", 25],
  ["login", 14],
  ["project_created", 6],
  ["member_invited", 3],
  ["invoice_paid", 1],
  ["signed_up", 1],
];
const NAMES = MIX.flatMap(([event, share]) => Array.from({ length: share }, () => event));

/** Events of one customer in order, one every seven minutes, the same in every run. */
export function orderedEvents(count: number, from = 0): TrackOperation[] {
  return Array.from({ length: count }, (_, index) => {
    const seq = from + index + 1;
    // A step that is prime to the number of names visits all of them.
    const event = NAMES[(seq * 37) % NAMES.length]!;
    const occurredAt = START + seq * 7 * MINUTE;
    return {
      kind: "track",
      seq,
      eventId: `evt_${seq}`,
      event,
      properties: propertiesOf(event, seq),
      occurredAt,
      acceptedAt: occurredAt,
    };
  });
}

function propertiesOf(event: string, seq: number): TrackOperation["properties"] {
  switch (event) {
    case "project_created":
      return { seats: seq % 12, source: seq % 2 === 0 ? "web" : "api" };
    case "feature_used":
      return { feature: `feature_${seq % 17}` };
    case "invoice_paid":
      return { amount: (seq % 500) + 0.99 };
    default:
      return {};
  }
}
