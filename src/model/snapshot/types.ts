/**
 * The snapshot: the JSON document that the compiler creates from an author's model, and the only form of it that the
 * server and the engine read. It contains no code. Arrays keep the author's order where order has a meaning
 * (states, transitions, segments); everywhere else keys are sorted, so equal models have equal bytes.
 *
 * Durations stay as the author wrote them ("30d"), so that readers of a stored version or a diff see what was meant.
 */

/** The version of this format. Readers refuse any other. */
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

/** `eq`, `ne` compare with one value, `in`, `notIn` with a list, the order operators with a number (or an ISO 8601 date text for dates);
 * `contains` tests whether an array or a string contains the value. A comparison with an absent value is false; `ne` and `notIn`
 * are the exact negations of `eq` and `in`, so they hold for an absent value. */
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

/** From when occurrences count: the entry of the lifecycle state, or the start of a journey's current or last run. */
export type Since = "state" | { journey: string };

/** Which of the selected occurrences count: all there ever were, those in the half-open window (t - within, t], or those since a start.
 * Never both members. In a journey's step, a scope without `since` counts from the journey's start (or the previous step). */
export interface OccurrenceScope {
  within?: Duration;
  since?: Since;
}

export type OrderOperator = "eq" | "ne" | "lt" | "lte" | "gt" | "gte";

/** What is computed from the numbers of a property. Occurrences without a number are ignored. Without numbers a sum is 0 and the others are
 * absent. Sums are exact in decimals. */
export type NumberAggregate = "sum" | "avg" | "min" | "max";

export type JourneyStatus = "not_started" | "active" | "complete" | "expired";

/** Reads the previous window, (t - 2 within, t - within]. Only for counts, sums and averages, and only with `within`. */
interface PreviousWindow {
  previous?: true;
}

/** A number that conditions compare and from which health components are scored. */
export type Measure =
  | ({ kind: "count"; of: EventSelector } & OccurrenceScope & PreviousWindow)
  /** A sum, average, least or greatest value of a number property. */
  | ({ kind: "aggregate"; function: NumberAggregate; of: EventSelector; property: string } & OccurrenceScope &
      PreviousWindow)
  /** The number of different values of a property of any scalar type. */
  | ({ kind: "distinct"; of: EventSelector; property: string } & OccurrenceScope)
  /** The value of a property at the latest occurrence that has one. */
  | ({ kind: "latest"; of: EventSelector; property: string } & OccurrenceScope)
  /** Whole days since the first occurrence ever (whatever the scope of a step), or since the last; absent if there is none. */
  | { kind: "daysSince"; which: "first" | "last"; of: EventSelector }
  | { kind: "trait"; trait: string }
  /** One number divided by another; absent if either is, or if the second is 0. The quotient of the two, each rounded to a double. */
  | { kind: "ratio"; of: Measure; per: Measure }
  /** One number minus another; absent if either is. Exact in decimals, rounded once. */
  | { kind: "difference"; of: Measure; minus: Measure };

/** A measure that is computed from other measures, none of which is `daysSince`. */
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
   * Once it has happened it holds; with `since`, both must come after that start. */
  | { kind: "sequence"; first: EventSelector; then: EventSelector; within: Duration; since?: Since }
  | { kind: "traitExists"; trait: string }
  /** Holds in [date - within, date), where date is the trait's value; a bare date is 00:00 UTC. */
  | { kind: "traitDateWithin"; trait: string; within: Duration }
  /** Holds from the date on, or from `by` after the date on. */
  | { kind: "traitDatePassed"; trait: string; by?: Duration }
  /** No event of any kind for this long; without events it counts from the first evaluation. */
  | { kind: "inactiveFor"; duration: Duration }
  /** An event of any kind in the window (t - duration, t]. */
  | { kind: "activeWithin"; duration: Duration }
  | { kind: "lifecycle"; states: string[] }
  | { kind: "inState"; atLeast: Duration }
  | { kind: "segment"; segment: string }
  /** The status of the journey's current or last run is one of these. */
  | { kind: "journey"; journey: string; statuses: JourneyStatus[] }
  /** `current`: the run is active and this is its current step. `completed`: the current or last run has completed it. */
  | { kind: "journeyStep"; journey: string; step: string; is: "current" | "completed" }
  /** The overall score, or that of a component; false while there is no score. */
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

/** A segment without a condition is changed only by rule actions. */
export interface Segment {
  id: string;
  when?: Condition;
}

export interface JourneyStep {
  id: string;
  when: Condition;
  /** Counts from the completion of the previous step, not from the journey's start. */
  since?: "previousStep";
}

export interface Journey {
  id: string;
  start: Condition;
  /** In the author's order, in which they are completed unless `anyOrder` is set. */
  steps: JourneyStep[];
  anyOrder?: true;
  /** A run can be active in [start, start + expiresAfter). */
  expiresAfter?: Duration;
  /** Whether a new run may start after the end of one. */
  repeat?: true;
}

/** For an absent measure, see `HealthComponent.absent`. */
export type Score =
  /** 0 at `from`, 100 at `to`, linear between and constant outside. `from` may be greater than `to`. */
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
  /** The score if the measure is absent: 0 by default; another score; or `skip`, which leaves the component out of the mean. */
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
  /** Entering the initial state counts, too. */
  | { kind: "stateEntered" | "stateExited"; state: string }
  | { kind: "journeyStarted" | "journeyCompleted" | "journeyExpired"; journey: string }
  | { kind: "journeyStepCompleted"; journey: string; step: string }
  | { kind: "segmentEntered" | "segmentExited"; segment: string }
  /** Occurs when the health is scored; a trigger does not make that more frequent. The first band counts as entered. */
  | { kind: "bandEntered" | "bandExited"; band: string }
  | { kind: "signalRaised" | "signalCleared"; signal: string };

export type Action =
  | { kind: "addToSegment" | "removeFromSegment"; segment: string }
  /** A message for people: `{name}` of the customer, `{owner}`, `{customerId}` and `{<trait>}` are replaced; `{{` and `}}` are literal
   * braces. */
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

/** How a customer is shown to people. Each member names traits and has no influence on evaluation. At least one member is present. */
export interface Display {
  /** The customer's name: a text. */
  name?: string;
  /** The person who looks after the customer: a text. */
  owner?: string;
  /** When the customer's contract is renewed: a date. */
  renewal?: string;
  /** Other traits to show, of any type, in the author's order. */
  show?: string[];
}

/** An id in a call of Segment's tracking API. */
export type TrackingId = "userId" | "groupId";

/** How calls of Segment's tracking API become operations. */
export interface Tracking {
  /** Which id identifies the customer: the first of these that a call has. */
  customer: TrackingId[];
  /** Names in calls, and the events that they stand for. */
  events: Record<string, string>;
}

export interface Snapshot {
  formatVersion: typeof SNAPSHOT_FORMAT_VERSION;
  strictSchema: boolean;
  /** Operations that violate a strict schema are quarantined. Absent if they are refused. */
  onViolation?: "quarantine";
  events: Record<string, EventSchema>;
  traits: Record<string, Field>;
  lifecycle: Lifecycle | null;
  journeys: Journey[];
  segments: Segment[];
  health: Health | null;
  rules: Rule[];
  signals: Signal[];
  /** Absent, never null, if the model has none: so its bytes are the same as before displays existed. */
  display?: Display;
  /** Absent in the same way; then the customer is `userId`, and no names are mapped. */
  tracking?: Tracking;
}

/** The model that is active before the first deploy: it accepts everything and derives nothing. */
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
