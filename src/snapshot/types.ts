/**
 * The snapshot: the one JSON document that the compiler makes of an author's model, and the only thing that the
 * server and the engines read of it. It holds no code. Arrays keep the author's order where order has a meaning
 * (states, transitions, segments); everywhere else keys are sorted, so equal models have equal bytes.
 *
 * Durations stay in the author's words ("30d"), so that a reader of a stored version or of a diff sees what was meant.
 */

/** The version of this format. A reader refuses any other. */
export const SNAPSHOT_FORMAT_VERSION = 1;

/** A fixed length of time: a whole number followed by m, h, d or w, for example "15m", "12h", "7d", "4w". */
export type Duration = string;

export type ScalarType = "string" | "number" | "boolean" | "date";

/** The declared type of an event property or a trait. `optional` has a meaning for event properties only. */
export type Field =
  | { type: "string"; enum?: string[]; optional?: true }
  | { type: "number" | "boolean" | "date"; optional?: true }
  | { type: "array"; items: { type: ScalarType; enum?: string[] }; optional?: true };

export interface EventSchema {
  properties: Record<string, Field>;
}

export type Scalar = string | number | boolean;

/** `eq`, `ne` compare with one value, `in`, `notIn` with a list, the orders with a number (or an ISO 8601 date text for dates),
 * `contains` asks whether an array or a string holds the value. A comparison with an absent value is false; `ne` and `notIn` are
 * the exact negations of `eq` and `in`, so they hold for an absent value. */
export type CompareOperator = "eq" | "ne" | "in" | "notIn" | "lt" | "lte" | "gt" | "gte" | "contains";

/** A condition on the properties of one event. */
export type PropertyCondition =
  | { kind: "all" | "any"; conditions: PropertyCondition[] }
  | { kind: "not"; condition: PropertyCondition }
  | { kind: "compare"; property: string; operator: CompareOperator; value: Scalar | Scalar[] }
  | { kind: "exists"; property: string };

/** The occurrences of one event that a count reads. */
export interface EventSelector {
  event: string;
  where?: PropertyCondition;
}

export type Condition =
  | { kind: "all" | "any"; conditions: Condition[] }
  | { kind: "not"; condition: Condition }
  /** The number of occurrences: ever, in the half-open window (t - within, t], or since the lifecycle state was entered. */
  | {
      kind: "count";
      of: EventSelector;
      within?: Duration;
      since?: "state";
      operator: "eq" | "ne" | "lt" | "lte" | "gt" | "gte";
      value: number;
    }
  | { kind: "trait"; trait: string; operator: CompareOperator; value: Scalar | Scalar[] }
  | { kind: "traitExists"; trait: string }
  /** Holds in [date - within, date), where date is the trait's value; a bare date is 00:00 UTC. */
  | { kind: "traitDateWithin"; trait: string; within: Duration }
  /** No event of any kind for this long; without events it counts from the first evaluation. */
  | { kind: "inactiveFor"; duration: Duration }
  /** An event of any kind in the window (t - duration, t]. */
  | { kind: "activeWithin"; duration: Duration }
  /** The lifecycle state is one of these. */
  | { kind: "lifecycle"; states: string[] }
  /** At least this long in the present lifecycle state. */
  | { kind: "inState"; atLeast: Duration }
  | { kind: "segment"; segment: string };

export interface Transition {
  to: string;
  when: Condition;
}

export interface LifecycleState {
  name: string;
  terminal?: true;
  /** In the author's order: the first whose condition holds is taken. */
  transitions: Transition[];
}

export interface Lifecycle {
  initial: string;
  states: LifecycleState[];
}

/** A segment without a condition is changed by rule actions only. */
export interface Segment {
  id: string;
  when?: Condition;
}

export interface Snapshot {
  formatVersion: typeof SNAPSHOT_FORMAT_VERSION;
  strictSchema: boolean;
  events: Record<string, EventSchema>;
  traits: Record<string, Field>;
  lifecycle: Lifecycle | null;
  journeys: never[];
  segments: Segment[];
  health: null;
  rules: never[];
  signals: never[];
}

/** The model that is active before the first deploy: accepts everything and derives nothing. */
export const EMPTY_SNAPSHOT: Snapshot = {
  formatVersion: SNAPSHOT_FORMAT_VERSION,
  strictSchema: false,
  events: {},
  traits: {},
  lifecycle: null,
  journeys: [],
  segments: [],
  health: null,
  rules: [],
  signals: [],
};
