/** Models of both organizations. */
import { EMPTY_SNAPSHOT, type Snapshot } from "../src/model/snapshot/types.js";

const EVENTS: Snapshot["events"] = { seen: { properties: { value: { type: "string", optional: true } } } };

/** A customer who was seen is active, and each event results in an execution of a rule. */
export const NEIGHBOUR_MODEL: Snapshot = {
  ...EMPTY_SNAPSHOT,
  strictSchema: true,
  events: EVENTS,
  lifecycle: {
    initial: "new",
    states: [
      {
        name: "new",
        transitions: [{ to: "active", when: { kind: "count", of: { event: "seen" }, operator: "gte", value: 1 } }],
      },
      { name: "active", transitions: [] },
    ],
  },
  rules: [
    { id: "noted", on: { kind: "event", of: { event: "seen" } }, then: { kind: "emit", type: "neighbour.noted" } },
  ],
};

/** A model that is cheap to evaluate. */
export const HARMLESS: Snapshot = NEIGHBOUR_MODEL;

/** Changes back and forth by time alone, once a minute. */
export const CYCLE: Snapshot = {
  ...EMPTY_SNAPSHOT,
  strictSchema: true,
  events: EVENTS,
  lifecycle: {
    initial: "a",
    states: [
      { name: "a", transitions: [{ to: "b", when: { kind: "inState", atLeast: "1m" } }] },
      { name: "b", transitions: [{ to: "a", when: { kind: "inState", atLeast: "1m" } }] },
    ],
  },
};

const DISTINCT_CONDITIONS = 400;

/** Remembers up to as many different values of one property in each of DISTINCT_CONDITIONS windows. */
const distinctValues = (value: number): Snapshot => ({
  ...EMPTY_SNAPSHOT,
  strictSchema: true,
  events: EVENTS,
  segments: Array.from({ length: DISTINCT_CONDITIONS }, (_, index) => ({
    id: `d${index}`,
    when: {
      kind: "distinct",
      of: { event: "seen" },
      property: "value",
      within: `${index + 1}d`,
      operator: "gte",
      value,
    } as const,
  })),
});

/** More than one customer's state may hold. */
export const DISTINCT: Snapshot = distinctValues(10_000);

/** Takes milliseconds for each event. */
export const EXPENSIVE: Snapshot = distinctValues(1_000);
