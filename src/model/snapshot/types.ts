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

/** The occurrences of one event that a condition reads. */
export interface EventSelector {
  event: string;
  where?: PropertyCondition;
}

/** From when on occurrences count: the entry of the lifecycle state, or the start of a journey's present or last run. */
export type Since = "state" | { journey: string };

/** Which of the selected occurrences count: all there ever were, those in the half-open window (t - within, t], or those since a start.
 * Never both members. In a journey's step, what has no `since` counts from the journey's start (or the previous step). */
export interface OccurrenceScope {
  within?: Duration;
  since?: Since;
}

export type OrderOperator = "eq" | "ne" | "lt" | "lte" | "gt" | "gte";

/** What is computed of the numbers that a property holds. Occurrences without a number are passed over. An empty sum is 0, the others
 * are absent. Sums are exact in decimals. */
export type NumberAggregate = "sum" | "avg" | "min" | "max";

export type JourneyStatus = "not_started" | "active" | "complete" | "expired";

/** The occurrences of the window before: those in (t - 2 within, t - within]. Only of counts, sums and averages, and only with `within`. */
interface PreviousWindow {
  previous?: true;
}

/** A number that conditions compare, and that a health component is scored by. */
export type Measure =
  | ({ kind: "count"; of: EventSelector } & OccurrenceScope & PreviousWindow)
  /** A sum, average, least or greatest value of a number property. */
  | ({ kind: "aggregate"; function: NumberAggregate; of: EventSelector; property: string } & OccurrenceScope &
      PreviousWindow)
  /** How many different values a property of any scalar type holds. */
  | ({ kind: "distinct"; of: EventSelector; property: string } & OccurrenceScope)
  /** The value of a property at the latest occurrence that has one. */
  | ({ kind: "latest"; of: EventSelector; property: string } & OccurrenceScope)
  /** Whole days since the first occurrence of all (whatever the scope of a step), or since the last; absent without one. */
  | { kind: "daysSince"; which: "first" | "last"; of: EventSelector }
  | { kind: "trait"; trait: string }
  /** One number divided by another; absent where either is, or the second is 0. The quotient of the two, each rounded to a double. */
  | { kind: "ratio"; of: Measure; per: Measure }
  /** One number less another; absent where either is. Exact in decimals, rounded once. */
  | { kind: "difference"; of: Measure; minus: Measure };

/** What is computed of other measures; none of them is `daysSince`. */
export type CalculatedMeasure = Extract<Measure, { kind: "ratio" | "difference" }>;

type Compared<Kind extends Measure["kind"], Operator, Value> = Extract<Measure, { kind: Kind }> & {
  operator: Operator;
  value: Value;
};

export type Condition =
  | { kind: "all" | "any"; conditions: Condition[] }
  | { kind: "not"; condition: Condition }
  | Compared<"count" | "aggregate" | "distinct" | "daysSince" | "ratio" | "difference", OrderOperator, number>
  | Compared<"latest" | "trait", CompareOperator, Scalar | Scalar[]>
  | ({ kind: "latestExists"; of: EventSelector; property: string } & OccurrenceScope)
  /** One occurrence and a later one (in order), less than `within` apart: when the second happens, the first is in (t - within, t].
   * Once it has happened it holds; with `since`, both must be since then. */
  | { kind: "sequence"; first: EventSelector; then: EventSelector; within: Duration; since?: Since }
  | { kind: "traitExists"; trait: string }
  /** Holds in [date - within, date), where date is the trait's value; a bare date is 00:00 UTC. */
  | { kind: "traitDateWithin"; trait: string; within: Duration }
  /** Holds from the date on, or from that long after it. */
  | { kind: "traitDatePassed"; trait: string; by?: Duration }
  /** No event of any kind for this long; without events it counts from the first evaluation. */
  | { kind: "inactiveFor"; duration: Duration }
  /** An event of any kind in the window (t - duration, t]. */
  | { kind: "activeWithin"; duration: Duration }
  | { kind: "lifecycle"; states: string[] }
  | { kind: "inState"; atLeast: Duration }
  | { kind: "segment"; segment: string }
  /** The status of the journey's present or last run is one of these. */
  | { kind: "journey"; journey: string; statuses: JourneyStatus[] }
  /** `current`: the run is active and this is its current step. `completed`: the present or last run has completed it. */
  | { kind: "journeyStep"; journey: string; step: string; is: "current" | "completed" }
  /** The overall score, or that of a component; false until there is a score. */
  | { kind: "health"; component?: string; operator: OrderOperator; value: number }
  | { kind: "healthBand"; bands: string[] };

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

export interface JourneyStep {
  id: string;
  when: Condition;
  /** Counts from the instant at which the previous step completed, not from the journey's start. */
  since?: "previousStep";
}

export interface Journey {
  id: string;
  start: Condition;
  /** In the author's order, which is the order of completion unless `anyOrder`. */
  steps: JourneyStep[];
  anyOrder?: true;
  /** A run lives in [start, start + expiresAfter). */
  expiresAfter?: Duration;
  /** Whether a new run may start after the end of one. */
  repeat?: true;
}

/** What is absent scores as the component says. */
export type Score =
  /** 0 at `from`, 100 at `to`, linear between and constant outside. `from` may be the greater one. */
  | { kind: "scale"; of: Measure; from: number; to: number }
  /** The score of the first step whose limit the number does not exceed; limits ascend. */
  | { kind: "steps"; of: Measure; steps: [limit: number, score: number][]; otherwise: number }
  /** By the value of a text trait; 0 for a value that is not listed. */
  | { kind: "map"; trait: string; values: Record<string, number> };

export interface HealthComponent {
  id: string;
  /** Greater than or equal to 0; the overall score is the weighted mean. */
  weight: number;
  score: Score;
  /** What the component scores where what is measured is absent: 0 unless said, another score, or nothing: the mean leaves it out then. */
  absent?: "skip" | number;
}

export interface HealthBand {
  id: string;
  /** The least overall score of the band. */
  from: number;
}

export interface Health {
  /** In the author's order. */
  components: HealthComponent[];
  /** By falling `from`; the last is from 0. */
  bands: HealthBand[];
}

export type Trigger =
  | { kind: "event"; of: EventSelector }
  | { kind: "traitsChanged" }
  /** The entry of the initial state is one. */
  | { kind: "stateEntered" | "stateExited"; state: string }
  | { kind: "journeyStarted" | "journeyCompleted" | "journeyExpired"; journey: string }
  | { kind: "journeyStepCompleted"; journey: string; step: string }
  | { kind: "segmentEntered" | "segmentExited"; segment: string }
  /** Where the health is scored, which a trigger makes no more often; the first band is entered. */
  | { kind: "bandEntered" | "bandExited"; band: string }
  | { kind: "signalRaised" | "signalCleared"; signal: string };

export type Action =
  | { kind: "addToSegment" | "removeFromSegment"; segment: string }
  /** A message for people: `{name}` of the customer, `{owner}`, `{customerId}` and `{<trait>}` are replaced; braces are doubled to stand for
   * themselves. */
  | { kind: "emit"; type: string; message?: string }
  | { kind: "raiseSignal" | "clearSignal"; signal: string };

export interface Rule {
  id: string;
  on: Trigger;
  when?: Condition;
  /** After a pass, the rule skips for this long: [pass, pass + cooldown). */
  cooldown?: Duration;
  /** After its first pass, the rule skips for good. Never with a cooldown. */
  once?: true;
  then: Action;
}

export type Severity = "info" | "warning" | "critical";

/** Raised while its condition holds. One without a condition is raised and cleared by rules. */
export interface Signal {
  id: string;
  severity: Severity;
  message?: string;
  when?: Condition;
  /** Only without a condition: the signal clears itself this long after it was last raised. */
  for?: Duration;
}

/** How a customer is shown to people. Each member names traits; nothing is evaluated by them. At least one is there. */
export interface Display {
  /** What the customer is called: a text. */
  name?: string;
  /** Who looks after the customer: a text. */
  owner?: string;
  /** When the customer's contract is renewed: a date. */
  renewal?: string;
  /** What else is shown, of any type, in the author's order. */
  show?: string[];
}

/** An id in a call of Segment's tracking API. */
export type TrackingId = "userId" | "groupId";

/** How calls of Segment's tracking API become operations. */
export interface Tracking {
  /** Which id is the customer: the first of these that a call has. */
  customer: TrackingId[];
  /** Names in calls, and the events that they stand for. */
  events: Record<string, string>;
}

export interface Snapshot {
  formatVersion: typeof SNAPSHOT_FORMAT_VERSION;
  strictSchema: boolean;
  /** What becomes of operations that violate a strict schema: they are kept apart. Absent where they are refused. */
  onViolation?: "quarantine";
  events: Record<string, EventSchema>;
  traits: Record<string, Field>;
  lifecycle: Lifecycle | null;
  journeys: Journey[];
  segments: Segment[];
  health: Health | null;
  rules: Rule[];
  signals: Signal[];
  /** Absent, never null, where the model says nothing of it: such a model has the bytes that it had before there were displays. */
  display?: Display;
  /** Absent, as display: the first is `userId` then, and no name stands for another. */
  tracking?: Tracking;
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
