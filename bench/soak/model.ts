import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";
import { EVENTS } from "../lib/events.js";

/** Customers with frequent events, and rare ones who go quiet after each event by a timer, which the tick finds, and come back with the next event. */
const BUSY = 2_000;
const RARE = 12_000;
/** One in this many events is of a rare customer. */
const RARE_ONE_IN = 10;

export const SNAPSHOT: Snapshot = {
  ...EMPTY_SNAPSHOT,
  strictSchema: true,
  events: EVENTS,
  lifecycle: {
    initial: "new",
    states: [
      {
        name: "new",
        transitions: [
          { to: "active", when: { kind: "count", of: { event: "feature_used" }, operator: "gte", value: 1 } },
        ],
      },
      { name: "active", transitions: [{ to: "quiet", when: { kind: "inactiveFor", duration: "1m" } }] },
      { name: "quiet", transitions: [{ to: "active", when: { kind: "activeWithin", duration: "1m" } }] },
    ],
  },
  segments: [
    {
      id: "power_users",
      when: {
        kind: "count",
        of: { event: "feature_used", where: { kind: "compare", property: "seconds", operator: "gte", value: 60 } },
        within: "1h",
        operator: "gte",
        value: 20,
      },
    },
  ],
};

/** The customer of the nth event. */
export function customerOf(index: number): string {
  const turn = Math.floor(index / RARE_ONE_IN);
  return index % RARE_ONE_IN === 0 ? `rare-${(turn * 7919) % RARE}` : `busy-${(index * 7919) % BUSY}`;
}
