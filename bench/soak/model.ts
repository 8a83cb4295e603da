import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";
import { EVENTS } from "../lib/events.js";

/** Customers who come often, and some who go quiet after each event: by a timer, which the tick finds due, and back by the next event. */
const BUSY = 2_000;
const RARE = 12_000;
/** Of so many events one is of a customer who comes rarely. */
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

/** Whose the nth event is. */
export function customerOf(index: number): string {
  const turn = Math.floor(index / RARE_ONE_IN);
  return index % RARE_ONE_IN === 0 ? `rare-${(turn * 7919) % RARE}` : `busy-${(index * 7919) % BUSY}`;
}
