import type { Severity } from "../model/snapshot/types.js";
import type { PropertyTest } from "./conditions/compare.js";
import type {
  AggregateMemory,
  EffectBody,
  EmissionSource,
  HealthScore,
  HistoryEvent,
  HistorySource,
  JourneyRun,
  Json,
  Order,
  RaisedSignal,
  StreamMemory,
  TrackedEvent,
} from "./state/types.js";

/**
 * A customer while being evaluated, as the parts of a model see it.
 *
 * Instants are plain numbers here: -Infinity stands for a past that has not been, Infinity for a future that will not be.
 */
export interface EvaluationContext {
  readonly customerId: string;
  readonly model: Model;
  /** The customer's evaluated events, as far as they are at hand. */
  readonly history: HistorySource;
  /** The customer's clock and, during an evaluation, its instant. */
  clock: number;
  minuteOfDay: number | undefined;
  readonly firstEvaluatedAt: number;
  readonly lastEventAt: number;
  readonly traits: Record<string, Json>;

  readonly state: string | null;
  /** When the lifecycle state was entered, and what counts since then. */
  readonly enteredAt: number;
  readonly stateBoundary: Boundary;
  /** By journey of the model: its present or last run. */
  readonly journeys: readonly (JourneyRun | undefined)[];
  readonly journeyBoundaries: readonly JourneyBoundaries[];
  /** By segment of the model: when it was entered, or undefined outside it. */
  readonly enteredSegmentAt: readonly (number | undefined)[];
  health: HealthScore | null;
  healthChangesAt: number;
  /** Whether the present evaluation scores health that no condition reads, and whether one that did not has met a change. */
  readonly scoresHealth: boolean;
  healthIsStale: boolean;
  /** By rule of the model: when it last passed. */
  readonly passedAt: readonly (number | undefined)[];
  /** By signal of the model, where it is raised. */
  readonly signals: readonly (RaisedSignal | undefined)[];

  readonly streams: readonly StreamMemory[];
  readonly aggregates: WorkingAggregate[];
  /** Whether explanations tell when conditions flip, which may take the history of a whole window. */
  readonly looksAhead: boolean;

  /** By item: to be evaluated. */
  readonly dirty: Uint8Array;
  /** Counts evaluations, so that what concerns one of them needs no clearing. */
  readonly evaluation: number;
  readonly operation: TrackedEvent | null;
  readonly causeKind: "event" | "timer" | "identify";
  /** The lifecycle states held in the evaluation `heldIn`. */
  held: string[];
  heldIn: number;
  /** The items that the present evaluation held back, because they had changed in it already. */
  readonly blockedItems: number[];
  /** By position: the last evaluation in which it happened. */
  readonly journeyStartedIn: number[];
  readonly segmentEnteredIn: number[];
  readonly segmentExitedIn: number[];
  readonly ruleRanIn: number[];
  readonly signalRaisedIn: number[];
  readonly signalClearedIn: number[];

  /** Whether time alone may not move the customer on any more before its next operation. */
  readonly restsUntilOperation: boolean;
  /** Takes down that the present evaluation moved the customer on. */
  noteMove(): void;
  /** The memory of a stream, copied before its first change. */
  ownStream(stream: Stream): StreamMemory;
  /** Has items evaluated. */
  mark(items: readonly number[]): void;
  enterState(state: string): void;
  setJourney(index: number, run: JourneyRun): void;
  setSegment(index: number, enteredAt: number | undefined): void;
  setPassed(rule: number): void;
  setSignal(index: number, signal: RaisedSignal | undefined): void;
  /** Adds an effect of the present evaluation. */
  push(effect: EffectBody): void;
  emit(type: string, source: EmissionSource, metadata: Record<string, Json>): void;
  /** The place in order of the operation that is being evaluated; null at a timer or an identify. */
  operationOrder(): Order | null;
  /** What is being evaluated, in a word: the event's id, `timer` or `identify`. */
  causeName(): string;
}

/**
 * From when on occurrences count: from the instant `at`, and later in order than the operation that caused it, which
 * occurred at `occurredAt` and was accepted as `seq`; both are -Infinity where no operation did. Replaced, never changed,
 * when it moves, so identity tells that it moved.
 */
export interface Boundary {
  readonly at: number;
  readonly occurredAt: number;
  readonly seq: number;
}

export type BoundaryOf = (customer: EvaluationContext) => Boundary;

/** What of a journey's present or last run its conditions count from. */
export interface JourneyBoundaries {
  start: Boundary;
  previousStep: Boundary;
  end: Boundary;
}

/**
 * One stream of occurrences that the model counts: an event, with or without a property condition. Conditions that count
 * the same stream share it.
 */
export interface Stream {
  index: number;
  event: string;
  where: PropertyTest | null;
  /** How many of the latest occurrences the conditions need to see; 0 where all only count ever. */
  capacity: number;
  /** The items of the model that read the stream, by position. */
  items: number[];
  /** The conditions and measures of the snapshot that read it. */
  sources: object[];
}

/**
 * Something other than a number of occurrences that a model's conditions need to know of the past: a sum, the different
 * values, the latest value. Conditions that ask the same share one.
 */
export interface Aggregate {
  readonly kind: AggregateMemory["kind"];
  readonly index: number;
  /** The events that it reads. */
  readonly events: readonly string[];
  /** How many different values the conditions need to tell apart; 0 of other aggregates. Grows while the model is compiled. */
  capacity: number;
  /** The items of the model that read it, by position. */
  readonly items: number[];
  /** The conditions and measures of the snapshot that read it. */
  readonly sources: object[];
  /** Where it stood when each window and boundary had a memory of its own. */
  readonly formerPositions: number[];
  /** Its working form, from what was remembered or from nothing. What was remembered is not changed. */
  open(memory: AggregateMemory | null): WorkingAggregate;
}

/** An aggregate as the conditions of one window and boundary read it. */
export interface ScopedAggregate {
  readonly aggregate: Aggregate;
  /** How many different values these need to tell apart. */
  capacity: number;
}

/** An aggregate of one customer during a call. Whatever was recorded in the call stays known until `save`. */
export interface WorkingAggregate {
  /**
   * Takes an event of one of its names in, whatever its place in order, and tells whether it concerns the aggregate.
   *
   * @throws {HistoryNeeded} if it takes earlier events to place it
   */
  record(customer: EvaluationContext, event: HistoryEvent): boolean;
  /** What is to be remembered; the very object that it was opened with where nothing changed. */
  save(customer: EvaluationContext): AggregateMemory;
  clone(): WorkingAggregate;
}

/** What conditions read: the items whose values they read, what is remembered of events, and whether any event matters. */
export interface Reads {
  items: Set<string>;
  streams: Set<Stream>;
  aggregates: Set<Aggregate>;
  activity: boolean;
}

/** The earliest instant after the clock at which a condition changes by time alone, or Infinity. */
export type NextChange = (customer: EvaluationContext) => number;

/** A part of a model with a value of its own, derived from operations, time and the values of other items. */
export interface DerivedPart {
  name: string;
  reads: Reads;
  /** Brings the value up to date at the customer's clock, adds the effects, and tells whether the value changed. */
  run(customer: EvaluationContext): boolean;
  /** The earliest instant after the clock at which a condition consulted in the present state changes by time alone. */
  nextChange: NextChange;
  /** The value and why it is so. */
  explain(customer: EvaluationContext): { [key: string]: Json };
}

/** What reads an event. */
export interface Readers {
  streams: Stream[];
  aggregates: Aggregate[];
}

/** A snapshot compiled to closures. Reusable for any number of customers; holds nothing of any of them. */
export interface Model {
  hash: string;
  /** What the memory of conditions is kept under. */
  memoryKey: string;
  /** Ids in the author's order. */
  journeys: string[];
  /** By journey: the ids of its steps. */
  journeySteps: string[][];
  segments: string[];
  rules: string[];
  signals: { id: string; severity: Severity; message?: string }[];
  /** What conditions remember of events. */
  registry: EventReaders;
  /** The events whose properties it reads. */
  propertyEvents: string[];
  /** In order of evaluation. */
  items: DerivedPart[];
  /** By item: the items that read its value. */
  readers: number[][];
  /** By segment, by signal: the items that read it; of a signal also the one that clears it. */
  segmentReaders: number[][];
  signalReaders: number[][];
  /** The items that any event concerns, and rules by the event that triggers them. */
  activityItems: number[];
  ruleItemsOf: Map<string, number[]>;
  /** The rules that a change of traits triggers. */
  traitRuleItems: number[];
  /** The position of the lifecycle among the items, or -1, and those of the journeys. */
  lifecycleItem: number;
  journeyItems: number[];
  /** The position of health that no condition reads, or -1. */
  refreshedItem: number;
}

/** What the conditions of a model remember of events. */
export interface EventReaders {
  readonly streams: readonly Stream[];
  readonly aggregates: readonly Aggregate[];
  /** What reads an event; undefined where nothing does. */
  readersOf(event: string): Readers | undefined;
}
