import type { Severity } from "../../model/snapshot/types.js";

/** A JSON value. Customer data is kept as received, never converted. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * The position of an event in a customer's order: by occurrence, then by acceptance (`seq`) if two occurred at the same instant. Instants are
 * whole milliseconds since 1970 UTC.
 */
export interface Order {
  occurredAt: number;
  seq: number;
}

/** An event that was evaluated before and is still retained. */
export interface HistoryEvent extends Order {
  event: string;
  properties: Record<string, Json>;
}

/** An event to evaluate: the fields that evaluation reads. */
export interface TrackedEvent extends HistoryEvent {
  eventId: string;
}

/** An event of a customer. */
export interface TrackOperation extends TrackedEvent {
  kind: "track";
  acceptedAt: number;
}

/** New values of some traits; null removes a trait. */
export interface IdentifyOperation {
  kind: "identify";
  seq: number;
  traits: Record<string, Json>;
  acceptedAt: number;
}

export type Operation = TrackOperation | IdentifyOperation;

/** Positions in order, as plain JSON: two lists of equal length. */
interface PlacesMemory {
  occurredAt: number[];
  seq: number[];
}

/**
 * The memory of one stream of occurrences (an event, with or without a property condition): how many there were, and the latest
 * of them in order, as many as the model's conditions need.
 */
export interface StreamMemory extends PlacesMemory {
  count: number;
}

/** What the conditions of one model need to know about the past. Plain JSON; its size is bounded by the model. */
export interface ConditionMemory {
  /** The memory key of the model (see `MemoryKeys`); null before anything is remembered. */
  model: string | null;
  /** True from a rebuild for another version until the next evaluation: meanwhile the due instant of the former version stays in force. */
  awaitsEvaluation: boolean;
  /** By index in the model. */
  streams: StreamMemory[];
  aggregates: AggregateMemory[];
  /** Absent where none is worth remembering. */
  searches?: SearchMemory[];
}

/**
 * The progress of the search for the next change of a number by time alone: it has reached the instant of the outlook. Valid while the
 * anchors keep their values.
 */
export interface SearchMemory {
  /** The number's index in the model. */
  number: number;
  present: boolean | number | null;
  anchors: readonly (number | string | null)[];
  outlook: OutlookMemory;
  /** How far the number is from the limits of its region before the outlook; absent while it had no value yet, null if unknown. */
  margins?: MarginsMemory | null;
  /** The first outlook at which the number is absent, or outside its region although it still reads the same. */
  checkpoint: (OutlookMemory & { isOut: boolean }) | null;
}

/** See `Margins`. */
export interface MarginsMemory {
  decimals: number;
  places: number;
  blur: number;
  margins: MarginMemory[];
  greatestDivisor: number;
  isWhole: boolean;
}

/** See `Margin`: two lists of equal length, and null for Infinity. */
export interface MarginMemory {
  isLow: boolean;
  isIn: boolean;
  limitUnits: number;
  least: number | null;
  instants: number[];
  units: number[];
}

/** A future instant, and the memory that the number's moving aggregates (in the order in which it reads them) will have then if no event comes. */
export interface OutlookMemory {
  instant: number;
  aggregates: AggregateMemory[];
}

/** One run of a journey. `startedBy`, `by` and `endedBy` are the positions of the causing operations: what counts since then is later in order. */
export interface JourneyRun {
  /** From 1. */
  run: number;
  status: "active" | "complete" | "expired";
  /** The first unfinished step; the last one of the model when complete. */
  currentStep: string;
  startedAt: number;
  startedBy: Order | null;
  /** Completed steps, in the author's order. */
  steps: Record<string, { completedAt: number; triggeredBy: string; by: Order | null }>;
  completedAt: number | null;
  expiredAt: number | null;
  /** The operation that ended the run; null if none did. */
  endedBy: Order | null;
}

export interface HealthScore {
  /** 0 to 100, two decimals. */
  overall: number;
  /** Components with a known score, in the author's order. */
  components: Record<string, number>;
  band: string;
}

/** The new score: overall and band are null if there is no longer any. */
export interface HealthChange {
  overall: number | null;
  components: Record<string, number>;
  band: string | null;
}

export interface RaisedSignal {
  raisedAt: number;
  /** The latest raise, from which `for` counts. */
  renewedAt: number;
  severity: Severity;
  message: string | null;
}

/** Everything that evaluation knows about a customer: plain JSON, whose size is bounded by the model and the traits. */
export interface CustomerState {
  customerId: string;
  createdAt: number;
  firstEvaluatedAt: number | null;
  /** The customer's clock: the latest instant of an evaluation. */
  evaluatedThrough: number | null;
  /** The latest occurrence of any event evaluated so far. */
  lastEventAt: number | null;
  /** The last track operation in order of acceptance, evaluated or still waiting for its instant. */
  lastTrack: (Order & { acceptedAt: number }) | null;
  traits: Record<string, Json>;
  /** The acceptance of the last identify that changed a trait. */
  traitsChangedAt: number | null;
  /** The `seq` of that identify; absent if it was evaluated by a release that did not store it. */
  traitsChangedSeq?: number;
  /** The instants at which merged identifies are due for evaluation, ascending. */
  traitsDueAt: number[];
  /** The `seq` of the last identify at each of those instants; absent if there is none, or if a release that did not store it wrote the state. */
  traitsDueSeqs?: number[];
  lifecycle: { state: string; enteredAt: number; cause: Order | null } | null;
  /** The current or last run of each journey that ever started, by id. */
  journeys: Record<string, JourneyRun>;
  /** Current memberships only. */
  segments: Record<string, { enteredAt: number }>;
  health: HealthScore | null;
  /** If no condition reads the health: the earliest change of a component by time alone since it was last scored. */
  healthChangesAt: number | null;
  /** By id: when a rule last passed. Kept even for rules without cooldown or `once`, since another version may add one. */
  rules: Record<string, { passedAt: number }>;
  /** Raised signals only, by id. */
  signals: Record<string, RaisedSignal>;
  memory: ConditionMemory;
  /** The earliest instant after the clock at which a condition changes by time alone. */
  timerDueAt: number | null;
  /** How often time alone has moved the customer since its last operation (see `MOVES_BY_TIME_MAX`); absent for never. */
  movesByTime?: number;
  /** The earliest instant at which something has to be evaluated without a new operation. */
  nextDueAt: number | null;
}

/** `job` is a recompute, which emits corrections. */
export type Cause =
  | { kind: "event"; eventId: string }
  | { kind: "timer" }
  | { kind: "identify" }
  | { kind: "job"; jobId: string };

export type RuleResult = "pass" | "fail" | "skip" | "error";

export type EmissionSource = "lifecycle" | "journey" | "segment" | "health" | "rule" | "signal";

export type Effect = { at: number; cause: Cause } & (
  | { kind: "transition"; from: string | null; to: string }
  /** A transition that was not taken: the customer was already in its target state at this instant, or time alone has moved it too often. */
  | { kind: "blocked"; from: string; to: string }
  | { kind: "segmentEntered"; segment: string }
  | { kind: "segmentExited"; segment: string; enteredAt: number }
  /** A run after each of its changes. */
  | { kind: "journey"; journey: string; run: JourneyRun }
  /** The score changed: overall, a component or the band; or there is no score any more. */
  | ({ kind: "health" } & HealthChange)
  | {
      kind: "ruleExecuted";
      rule: string;
      result: RuleResult;
      /**
       * `event:<name>`, `traits`, `lifecycle.entered:<state>`, `lifecycle.exited:<state>`, `journey.started:<id>`,
       * `journey.step_completed:<id>.<step>`, `journey.completed:<id>`, `journey.expired:<id>`, `segment.entered:<id>`,
       * `segment.exited:<id>`, `health.entered:<band>`, `health.exited:<band>`, `signal.raised:<id>`, `signal.cleared:<id>`.
       */
      triggeredBy: string;
      /** The explanation of the rule's condition; {} if it has none or it could not be evaluated. */
      conditions: Record<string, Json>;
      /** `{type, segment}`, `{type, eventType}` or `{type, signal}`; type is the action's kind. */
      action: Record<string, Json>;
      /** The reason if the result is `error`. */
      error: string | null;
    }
  | { kind: "signalRaised"; signal: string; severity: Severity; message: string | null }
  | { kind: "signalCleared"; signal: string; severity: Severity; message: string | null; raisedAt: number }
  | {
      kind: "emission";
      type: string;
      source: EmissionSource;
      metadata: Record<string, Json>;
      /** Set if a rule caused the emission: the rule of the last `ruleExecuted` effect before it. */
      byRule?: true;
    }
);

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** An effect as an item of the model pushes it; the evaluation adds instant and cause. */
export type EffectBody = DistributiveOmit<Effect, "at" | "cause">;

/** Asks for evaluated events of one name, which leave a window or which a late event needs: later in order than `after`, up to and including
 * `until` (null: to the end), earliest first. */
export interface HistoryRequest {
  event: string;
  after: Order;
  until: Order | null;
}

/** The answer to a request, or the first part of it: if it is not complete, the engine asks again after the last event. */
export interface HistoryPage {
  events: readonly HistoryEvent[];
  complete: boolean;
}

/** Returns evaluated events of a customer that are loaded; undefined if they have to be fetched first. Operations of the current call are
 * never part of it. */
export type HistorySource = (request: HistoryRequest) => HistoryPage | undefined;

/** A sum as plain JSON: whole units of 10^-scale, as text if a double cannot hold them. Equal sums are equal JSON. */
export interface DecimalMemory {
  units: number | string;
  scale: number;
}

/** Occurrences, each with a value. */
export interface OccurrencesMemory<V = number> extends PlacesMemory {
  value: V[];
}

/** The boundary that a memory was computed for; null if nothing counts since it. */
export type BoundaryMemory = { at: number | null; by: Order | null } | null;

export interface ScopeMemory {
  /** The latest occurrence ever selected. */
  latest: Order | null;
  since: BoundaryMemory;
}

/** A sum and its summands. Without a window no occurrences are kept, without any scope only the sum and the counts. */
export interface SumMemory {
  kind: "sum";
  sum: DecimalMemory;
  /** How many numbers were summed, and how many of them are above and below zero. */
  count: number;
  positive: number;
  negative: number;
  scope: ScopeMemory | null;
  window: {
    oldest: OccurrencesMemory;
    /** How many more occurrences there are that are not stored, and the position of the first. */
    others: number;
    othersFrom: Order | null;
  } | null;
}

/** The oldest of the occurrences that are or may become the greatest of the scope: in order, with falling values. */
export interface ExtremeMemory {
  kind: "extreme";
  oldest: OccurrencesMemory;
  /** The first of the occurrences that are not stored. */
  othersFrom: (Order & { value: number }) | null;
  scope: ScopeMemory;
}

/** A value as distinct counts compare it: strings, numbers and booleans are never equal to each other. */
export type DistinctValue = string | number | boolean;

/** The distinct values that occurred most recently, in the order of their latest occurrences. */
export interface DistinctMemory extends OccurrencesMemory<DistinctValue> {
  kind: "distinct";
}

/** The latest occurrence that has a value; null if there is none. */
export interface LatestMemory {
  kind: "latest";
  latest: (Order & { value: Json }) | null;
}

/** The instant of the first occurrence ever; null if there is none. */
export interface FirstMemory {
  kind: "first";
  occurredAt: number | null;
}

/** The latest occurrences in order, and the latest of those that are not stored. */
export interface LogMemory extends PlacesMemory {
  floor: Order | null;
}

/** Whether a sequence has happened since its boundary, and the latest occurrences of its two events unless that is settled for good. */
export interface SequenceMemory {
  kind: "sequence";
  met: boolean;
  first: LogMemory | null;
  then: LogMemory | null;
  since: BoundaryMemory;
}

/** The memory of one aggregate: plain JSON, bounded by the model. */
export type AggregateMemory = SumMemory | ExtremeMemory | DistinctMemory | LatestMemory | FirstMemory | SequenceMemory;
