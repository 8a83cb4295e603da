import type { Severity } from "../../model/snapshot/types.js";

/** A JSON value. Customers' data are held as they came, never converted. */
export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };

/**
 * The place of an event in a customer's order: by occurrence, and by acceptance (`seq`) where two occurred at one instant. Instants are whole
 * milliseconds since 1970 UTC.
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

/** An event whose turn has come: all that its evaluation reads of it. */
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

/** Places in order, as plain JSON: two lists of one length. */
interface PlacesMemory {
  occurredAt: number[];
  seq: number[];
}

/**
 * What is remembered of one stream of occurrences (an event, with or without a property condition): how many there were,
 * and the latest of them in order, as many as the model's conditions need.
 */
export interface StreamMemory extends PlacesMemory {
  count: number;
}

/** What the conditions of one model need to know of the past. Plain JSON; its size is bounded by the model. */
export interface ConditionMemory {
  /** The hash of the model that the memory is for; null before anything is remembered. */
  model: string | null;
  /** Rebuilt for another version and not evaluated since: until then the due instant of the former version stands. */
  awaitsEvaluation: boolean;
  /** By position in the model. */
  streams: StreamMemory[];
  aggregates: AggregateMemory[];
  /** Absent where none is worth remembering. */
  searches?: SearchMemory[];
}

/**
 * How far the search for the next change of a number by time alone has come: up to that of the outlook. Holds as long as the anchors do.
 */
export interface SearchMemory {
  /** The number's position in the model. */
  number: number;
  present: boolean | number | null;
  anchors: readonly (number | string | null)[];
  outlook: OutlookMemory;
  /** How far the number is from the ends of its region before; absent where it was not there yet, null where that is not known. */
  margins?: MarginsMemory | null;
  /** Where the number first is absent or, reading as before, out of its region. */
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

/** See `Margin`: two lists of one length, and null for an Infinity. */
export interface MarginMemory {
  isLow: boolean;
  isIn: boolean;
  limitUnits: number;
  least: number | null;
  instants: number[];
  units: number[];
}

/** An instant ahead, and what the number's moving aggregates, in the order in which it reads them, remember then if nothing comes. */
export interface OutlookMemory {
  instant: number;
  aggregates: AggregateMemory[];
}

/** One run of a journey. Cause orders say which operation started, completed or ended something: what counts since then is later. */
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
  /** What ended the run, where an operation did. */
  endedBy: Order | null;
}

export interface HealthScore {
  /** 0 to 100, two decimals. */
  overall: number;
  /** Those that are known, in the author's order. */
  components: Record<string, number>;
  band: string;
}

/** What the score changes to: overall and band are null where nothing of it is known any more. */
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

/** Everything that evaluation knows of a customer: plain JSON, whose size is bounded by the model and the traits. */
export interface CustomerState {
  customerId: string;
  createdAt: number;
  firstEvaluatedAt: number | null;
  /** The customer's clock: the latest instant of an evaluation. */
  evaluatedThrough: number | null;
  /** The latest occurrence of any event evaluated so far. */
  lastEventAt: number | null;
  /** The last track operation in order of acceptance, evaluated or still ahead. */
  lastTrack: (Order & { acceptedAt: number }) | null;
  traits: Record<string, Json>;
  /** The acceptance of the last identify that changed a trait. */
  traitsChangedAt: number | null;
  /** Its place among operations; absent where a version evaluated it that did not remember that. */
  traitsChangedSeq?: number;
  /** The instants at which merged identifies await their evaluation, ascending. */
  traitsDueAt: number[];
  /** The last operation of each; absent where there is none, as from a version that did not remember them. */
  traitsDueSeqs?: number[];
  lifecycle: { state: string; enteredAt: number; cause: Order | null } | null;
  /** The present or last run of each journey that ever started, by id. */
  journeys: Record<string, JourneyRun>;
  /** Present memberships only. */
  segments: Record<string, { enteredAt: number }>;
  health: HealthScore | null;
  /** Where no condition reads the health: the earliest change of a component by time alone since it was last scored. */
  healthChangesAt: number | null;
  /** By id: when a rule last passed, also one that does not rest: another version may have it rest. */
  rules: Record<string, { passedAt: number }>;
  /** Raised signals only, by id. */
  signals: Record<string, RaisedSignal>;
  memory: ConditionMemory;
  /** The earliest instant after the clock at which a condition changes by time alone. */
  timerDueAt: number | null;
  /** How often time alone has moved the customer on since its last operation (see `MOVES_BY_TIME_MAX`); absent for never. */
  movesByTime?: number;
  /** The earliest instant at which anything is to be evaluated without a new operation. */
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
  /** A transition that was not taken: its state had been held at this instant already, or time alone has moved the customer on too often. */
  | { kind: "blocked"; from: string; to: string }
  | { kind: "segmentEntered"; segment: string }
  | { kind: "segmentExited"; segment: string; enteredAt: number }
  /** A run as it stands after each of its changes. */
  | { kind: "journey"; journey: string; run: JourneyRun }
  /** The score changed: overall, a component or the band; or there is none any more. */
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
      /** The explanation of the rule's condition; {} where it has none, or where it could not be evaluated. */
      conditions: Record<string, Json>;
      /** `{type, segment}`, `{type, eventType}` or `{type, signal}`; type is the action's kind. */
      action: Record<string, Json>;
      /** Why, where the result is `error`. */
      error: string | null;
    }
  | { kind: "signalRaised"; signal: string; severity: Severity; message: string | null }
  | { kind: "signalCleared"; signal: string; severity: Severity; message: string | null; raisedAt: number }
  | {
      kind: "emission";
      type: string;
      source: EmissionSource;
      metadata: Record<string, Json>;
      /** Whether the run of a rule made it: the last one before it among the effects. */
      byRule?: true;
    }
);

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** An effect as an item of the model states it; the evaluation adds instant and cause. */
export type EffectBody = DistributiveOmit<Effect, "at" | "cause">;

/** Evaluated events of one name that a window leaves behind or a late event needs: later in order than `after`, up to and including
 * `until` (null: to the end), earliest first. */
export interface HistoryRequest {
  event: string;
  after: Order;
  until: Order | null;
}

/** The answer to a request, or its beginning: where it is not complete, the engine asks again after the last event. */
export interface HistoryPage {
  events: readonly HistoryEvent[];
  complete: boolean;
}

/** What of a customer's evaluated events is at hand; undefined where it has to be fetched first. Operations of the present call are
 * never part of it. */
export type HistorySource = (request: HistoryRequest) => HistoryPage | undefined;

/** A sum as plain JSON: whole units of 10^-scale, as text where a double does not hold them. Equal sums are equal JSON. */
export interface DecimalMemory {
  units: number | string;
  scale: number;
}

/** Occurrences with a value each. */
export interface OccurrencesMemory<V = number> extends PlacesMemory {
  value: V[];
}

/** The boundary that a memory stands at; null where nothing counts since it. */
export type BoundaryMemory = { at: number | null; by: Order | null } | null;

export interface ScopeMemory {
  /** The latest occurrence of all that were ever selected. */
  latest: Order | null;
  since: BoundaryMemory;
}

/** A sum and what it is the sum of. Without a window there are no occurrences, without any scope only sum and number. */
export interface SumMemory {
  kind: "sum";
  sum: DecimalMemory;
  /** How many numbers, and how many of them are above and below zero. */
  count: number;
  positive: number;
  negative: number;
  scope: ScopeMemory | null;
  window: {
    oldest: OccurrencesMemory;
    /** How many more there are, and the first of them. */
    others: number;
    othersFrom: Order | null;
  } | null;
}

/** The oldest of the occurrences that are or will be the greatest of the scope: in order, with falling values. */
export interface ExtremeMemory {
  kind: "extreme";
  oldest: OccurrencesMemory;
  /** The first of those that are not remembered. */
  othersFrom: (Order & { value: number }) | null;
  scope: ScopeMemory;
}

/** A value as it is told from others: texts, numbers and booleans never mix. */
export type DistinctValue = string | number | boolean;

/** The different values whose latest occurrence is latest, in that order. */
export interface DistinctMemory extends OccurrencesMemory<DistinctValue> {
  kind: "distinct";
}

/** The latest occurrence that has a value; null without one. */
export interface LatestMemory {
  kind: "latest";
  latest: (Order & { value: Json }) | null;
}

/** The instant of the first occurrence of all; null without one. */
export interface FirstMemory {
  kind: "first";
  occurredAt: number | null;
}

/** The latest occurrences in order, and the latest of those that are not remembered. */
export interface LogMemory extends PlacesMemory {
  floor: Order | null;
}

/** Whether a sequence has happened since its boundary, and otherwise the latest occurrences of its two events. */
export interface SequenceMemory {
  kind: "sequence";
  met: boolean;
  first: LogMemory | null;
  then: LogMemory | null;
  since: BoundaryMemory;
}

/** What is remembered of one aggregate: plain JSON, bounded by the model. */
export type AggregateMemory = SumMemory | ExtremeMemory | DistinctMemory | LatestMemory | FirstMemory | SequenceMemory;
