import { LATEST_INSTANT } from "../model/snapshot/duration.js";
import { MOVES_BY_TIME_MAX } from "../model/snapshot/limits.js";
import type { Severity } from "../model/snapshot/types.js";
import { addOccurrence, trimOccurrences } from "./aggregates/occurrences.js";
import type { PropertyTest } from "./conditions/compare.js";
import {
  type Boundary,
  boundariesOf,
  boundaryAt,
  type JourneyBoundaries,
  NOTHING_COUNTS,
  orderOf,
} from "./state/boundary.js";
import { aggregatesOf, type FromStream, type MemoryKeys } from "./state/layout.js";
import type {
  AggregateMemory,
  Cause,
  ConditionMemory,
  CustomerState,
  Effect,
  EffectBody,
  EmissionSource,
  HealthScore,
  HistoryEvent,
  HistorySource,
  JourneyRun,
  Json,
  SearchMemory,
  Order,
  RaisedSignal,
  StreamMemory,
  TrackOperation,
  TrackedEvent,
} from "./state/types.js";

/** Reads the boundary from which occurrences count. */
export type BoundaryOf = (customer: OpenCustomer) => Boundary;

/** A memory of events for some conditions. Conditions that need the same share it. */
interface Remembered {
  index: number;
  /** How many of the latest occurrences, or distinct values, the conditions need; 0 if they need none. Grows while compiling. */
  capacity: number;
  /** The indexes of the model's items that read it. */
  readonly items: number[];
  /** The conditions and measures of the snapshot that read it. */
  readonly sources: object[];
}

/** The stream of the occurrences of an event, with or without a property condition, that the model counts. */
export interface Stream extends Remembered {
  readonly event: string;
  readonly where: PropertyTest | null;
}

/** A memory other than a count of occurrences: a sum, the distinct values, the latest value. */
export interface Aggregate extends Remembered {
  readonly kind: AggregateMemory["kind"];
  /** The events that it reads. */
  readonly events: readonly string[];
  /** Whether time alone changes it, because occurrences leave its window. */
  readonly isMoving: boolean;
  /** Its indexes in the former layout in which each window and boundary had its own memory. */
  readonly formerPositions: number[];
  /** For a summed-up count: derives its memory from the stream that stored its occurrences in a former layout. */
  readonly fromStream: FromStream | null;
  /** Opens its working form, from a memory or from nothing. The memory is not changed. */
  open(memory: AggregateMemory | undefined): WorkingAggregate;
}

/** An aggregate of one customer during a call. Everything recorded in the call stays loaded until `save`. */
export interface WorkingAggregate {
  /**
   * Records an event of one of its names, wherever it is in order. Returns whether it concerns the aggregate.
   *
   * @throws {HistoryNeeded} if earlier events are needed for that
   */
  record(customer: OpenCustomer, event: HistoryEvent): boolean;
  /**
   * The memory to store; the very object that it was opened with if nothing changed.
   *
   * @param occurrences how many of a window's oldest occurrences to store; the usual number unless given
   */
  save(customer: OpenCustomer, occurrences?: number): AggregateMemory;
  /** A copy for looking at another instant; undefined if time alone does not change the aggregate. */
  clone?(): WorkingAggregate;
  /** With `clone`: the instant from which the saved memory no longer covers what leaves the window, so that history must be read; or Infinity. */
  remembersUntil?(): number;
}

/** A number of the model whose next change by time alone has to be searched for. */
export interface SearchedNumber {
  /** The measure of the snapshot. */
  readonly source: object;
  readonly aggregates: readonly Aggregate[];
  readonly anchors: number;
  /** Whether its search is stored from call to call. */
  readonly isRemembered: boolean;
  /** Opens the search from its memory. */
  open(memory: SearchMemory): ChangeSearch;
}

/** The search for the next change of a number by time alone. It survives events where it can. */
export interface ChangeSearch {
  /** Whether its results so far are still valid for the customer. */
  isSound(customer: OpenCustomer, present: SearchMemory["present"]): boolean;
  /** Adjusts to an event that the customer is about to record. Returns false if the search must be discarded. */
  record(customer: OpenCustomer, event: HistoryEvent): boolean;
  /**
   * The earliest instant after the clock at which the number changes, or Infinity.
   *
   * @throws {HistoryNeeded} if it lies beyond the loaded occurrences
   */
  find(customer: OpenCustomer): number;
  /** The memory to store; null if a new search would need no history, or if this one is no longer valid. */
  save(customer: OpenCustomer): Omit<SearchMemory, "number"> | null;
}

/** What conditions read: values of other items, memories of events, and (`activity`) whether any event occurred. */
export interface Reads {
  items: Set<string>;
  streams: Set<Stream>;
  aggregates: Set<Aggregate>;
  activity: boolean;
}

/** The earliest instant after the clock at which a condition changes by time alone, or Infinity. */
export type NextChange = (customer: OpenCustomer) => number;

/** Something that rules can wait for in a part of a model. The log of rule runs shows it in front of the part's id. */
export type RuleOccasion =
  | `${"lifecycle" | "segment" | "health"}.${"entered" | "exited"}`
  | `journey.${"started" | "step_completed" | "completed" | "expired"}`
  | `signal.${"raised" | "cleared"}`;

/** A part of a model (an item) whose value is derived from operations, time and the values of other items. */
export interface DerivedPart {
  name: string;
  reads: Reads;
  /** Updates the value as of the customer's clock and adds the effects. Returns whether the value changed. */
  run(customer: OpenCustomer): boolean;
  /** The earliest instant after the clock at which a condition consulted in the current state changes by time alone. */
  nextChange: NextChange;
  /** The value and the reason for it. */
  explain(customer: OpenCustomer): { [key: string]: Json };
}

/** What the conditions of a model remember about events. */
export interface EventReaders {
  readonly streams: readonly Stream[];
  readonly aggregates: readonly Aggregate[];
  readonly searched: readonly SearchedNumber[];
  readersOf(event: string): { streams: Stream[]; aggregates: Aggregate[] } | undefined;
}

/** A snapshot compiled to closures. Reusable for any number of customers; holds no customer's data. */
export interface Model extends MemoryKeys {
  /** Ids in the author's order. */
  journeys: string[];
  /** By journey: the ids of its steps. */
  journeySteps: string[][];
  segments: string[];
  rules: string[];
  signals: { id: string; severity: Severity; message?: string }[];
  registry: EventReaders;
  /** The events whose properties the model reads. */
  propertyEvents: string[];
  /** In order of evaluation. */
  items: DerivedPart[];
  /** By item: the items that read its value; for the health also the rules that wait for its band. */
  readers: number[][];
  /** By segment, by signal: the items that read it; for a signal also its own item, which clears it. */
  segmentReaders: number[][];
  signalReaders: number[][];
  /** The items that every event concerns, and the rule items by the event that triggers them. */
  activityItems: number[];
  ruleItemsOf: Map<string, number[]>;
  /** The occasions that the model's rules wait for. */
  awaited: RuleOccasion[];
  /** The rules that a change of traits triggers. */
  traitRuleItems: number[];
  /** The index of the lifecycle among the items, or -1, and those of the journeys. */
  lifecycleItem: number;
  journeyItems: number[];
  /** The index of the health if no condition reads it, otherwise -1. */
  refreshedItem: number;
}

/**
 * Limits one call of the engine: called before each instant except the first, with the effects so far. If it returns false, the call ends
 * after the previous instant, and another call continues from there. The final result does not depend on the budget.
 */
export type Budget = (effects: readonly Effect[]) => boolean;

/** For an identify merged by a release that did not store its `seq`: sorts before all others. */
const UNKNOWN_SEQ = 0;

export const UNBOUNDED: Budget = () => true;

/**
 * The evaluation context of a customer: a mutable copy of the state, opened once per call. Each part of the caller's state is
 * copied before its first change.
 *
 * Instants are plain numbers here: -Infinity for something that has never happened, Infinity for something that never will.
 */
export class OpenCustomer {
  readonly customerId: string;
  minuteOfDay: number | undefined;
  /** The customer's clock and, during an evaluation, its instant. */
  clock: number;
  firstEvaluatedAt: number;
  lastEventAt: number;
  lastTrack: CustomerState["lastTrack"];
  traits: Record<string, Json>;
  traitsChangedAt: number | null;
  traitsChangedSeq: number;
  /** Merged identifies that wait for evaluation: when each is due, and the `seq` of the last one of that instant. */
  traitsDue: Order[];
  timerDueAt: number;
  /** See `CustomerState`. */
  movesByTime: number;

  state: string | null;
  /** When the lifecycle state was entered, and the boundary for what counts since then. */
  enteredAt: number;
  stateBoundary: Boundary;

  /** By journey of the model: its current or last run. */
  readonly journeys: (JourneyRun | undefined)[];
  readonly journeyBoundaries: JourneyBoundaries[];
  /** By segment of the model: when it was entered, or undefined outside it. */
  readonly enteredSegmentAt: (number | undefined)[];
  health: HealthScore | null;
  healthChangesAt: number;
  /** For health that no condition reads: whether this evaluation scores it, and whether an earlier one skipped a possible change. */
  scoresHealth = false;
  healthIsStale = false;
  /** By rule of the model: when it last passed. */
  readonly passedAt: (number | undefined)[];
  /** By signal of the model: undefined unless it is raised. */
  readonly signals: (RaisedSignal | undefined)[];

  readonly streams: StreamMemory[];
  readonly aggregates: WorkingAggregate[];
  /** By index of the number: the search for its next change by time alone. */
  searches: (ChangeSearch | undefined)[] = [];
  awaitsEvaluation: boolean;
  /** Whether explanations say when conditions flip, which may require the history of a whole window. */
  explainsFlips = true;

  /** Operations in the future of the clock, in the order in which they will be due. */
  readonly waiting: TrackOperation[] = [];
  readonly effects: Effect[] = [];

  /** By item: whether it must be evaluated, and when a condition it consults changes by time alone. */
  readonly dirty: Uint8Array;
  readonly dueAt: Float64Array;
  /** Numbers the evaluations, so that records of a former one need no clearing. */
  evaluation = 0;
  operation: TrackedEvent | null = null;
  /** The identify that is being evaluated (the last one of its instant): when it was due, and its `seq`. */
  identify: Order | null = null;
  causeKind: "event" | "timer" | "identify" = "timer";
  /** The lifecycle states that the customer left in the evaluation `heldIn`. */
  held: string[] = [];
  heldIn = 0;
  /** The items that this evaluation blocked, because they had changed in it already or time alone moved the customer too often. */
  blockedItems: number[] = [];
  /** Whether an instant was evaluated: the first one always is, whatever the budget. */
  private hasBegun = false;
  /** By index: the last evaluation in which it happened. */
  readonly journeyStartedIn: number[] = [];
  readonly ruleRanIn: number[] = [];
  /** By occasion that rules wait for, and by id as in the log: the last evaluation in which it happened. */
  readonly happenedIn: ReadonlyMap<RuleOccasion, Map<string, number>>;

  private readonly ownsStream: Uint8Array;
  private ownsTraits = false;
  private journeysChanged = false;
  private segmentsChanged = false;
  private rulesChanged = false;
  private signalsChanged = false;

  /** @param history the customer's evaluated events, as far as they are loaded */
  constructor(
    readonly model: Model,
    private readonly origin: CustomerState,
    readonly history: HistorySource = () => undefined,
    private readonly budget: Budget = UNBOUNDED,
  ) {
    const { lifecycle, memory } = origin;
    this.customerId = origin.customerId;
    this.clock = origin.evaluatedThrough ?? -Infinity;
    this.firstEvaluatedAt = origin.firstEvaluatedAt ?? Infinity;
    this.lastEventAt = origin.lastEventAt ?? -Infinity;
    this.lastTrack = origin.lastTrack;
    this.traits = origin.traits;
    this.traitsChangedAt = origin.traitsChangedAt;
    this.traitsChangedSeq = origin.traitsChangedSeq ?? UNKNOWN_SEQ;
    this.traitsDue = origin.traitsDueAt.map((occurredAt, index) => ({
      occurredAt,
      seq: origin.traitsDueSeqs?.[index] ?? UNKNOWN_SEQ,
    }));
    this.timerDueAt = origin.timerDueAt ?? Infinity;
    this.movesByTime = origin.movesByTime ?? 0;
    this.state = lifecycle?.state ?? null;
    this.enteredAt = lifecycle?.enteredAt ?? Infinity;
    this.stateBoundary = lifecycle === null ? NOTHING_COUNTS : boundaryAt(lifecycle.enteredAt, lifecycle.cause);
    this.journeys = model.journeys.map((id) => ownMember(origin.journeys, id));
    this.journeyBoundaries = this.journeys.map((run, index) => boundariesOf(run, model.journeySteps[index]!));
    this.enteredSegmentAt = model.segments.map((id) => ownMember(origin.segments, id)?.enteredAt);
    this.health = origin.health;
    this.healthChangesAt = origin.healthChangesAt ?? Infinity;
    this.passedAt = model.rules.map((id) => ownMember(origin.rules, id)?.passedAt);
    this.signals = model.signals.map(({ id }) => ownMember(origin.signals, id));
    const { streams, aggregates, searched } = model.registry;
    this.streams =
      memory.model === null ? streams.map(() => ({ count: 0, occurredAt: [], seq: [] })) : memory.streams.slice();
    const memories = aggregatesOf(model.registry.aggregates, model, memory, this.clock);
    this.aggregates = aggregates.map((aggregate, index) => aggregate.open(memories?.[index]));
    const searches = memory.model === model.memoryKey ? memory.searches : undefined;
    for (const search of searches ?? []) this.searches[search.number] = searched[search.number]!.open(search);
    this.awaitsEvaluation = memory.awaitsEvaluation;
    this.happenedIn = new Map(model.awaited.map((what) => [what, new Map<string, number>()]));
    this.ownsStream = new Uint8Array(streams.length);
    this.dirty = new Uint8Array(model.items.length).fill(1);
    this.dueAt = new Float64Array(model.items.length).fill(Infinity);
  }

  /** True while a rule that passed carries out its action. */
  isRuleActing = false;

  get isNew(): boolean {
    return this.clock === -Infinity;
  }

  /** Whether the budget allows one more instant. */
  hasBudget(): boolean {
    if (this.hasBegun) return this.budget(this.effects);
    this.hasBegun = true;
    return true;
  }

  /** Whether time alone may no longer move the customer until its next operation (see `MOVES_BY_TIME_MAX`). */
  get isAtMoveLimit(): boolean {
    return this.causeKind === "timer" && this.movesByTime >= MOVES_BY_TIME_MAX;
  }

  /** Counts a move of the customer if time alone caused it. */
  countMoveByTime(): void {
    if (this.causeKind === "timer") this.movesByTime++;
  }

  /** Adds an event to the streams and aggregates that read it, and marks the items that read those. */
  record(event: HistoryEvent): void {
    const readers = this.model.registry.readersOf(event.event);
    if (readers === undefined) return;
    const { streams, aggregates } = readers;
    const { searches } = this;
    // Searches come first: they compute the effect of the event from the streams and aggregates as they are before it.
    for (let i = 0; i < searches.length; i++) {
      if (searches[i]?.record(this, event) === false) searches[i] = undefined;
    }
    for (let i = 0; i < streams.length; i++) {
      const stream = streams[i]!;
      if (stream.where !== null && !stream.where(event.properties)) continue;
      addOccurrence(this.ownStream(stream), stream.capacity, event.occurredAt, event.seq);
      this.mark(stream.items);
    }
    for (let i = 0; i < aggregates.length; i++) {
      const aggregate = aggregates[i]!;
      if (this.aggregates[aggregate.index]!.record(this, event)) this.mark(aggregate.items);
    }
  }

  /** The memory of a stream, copied before its first change. */
  private ownStream({ index }: Stream): StreamMemory {
    if (!this.ownsStream[index]) {
      const { count, occurredAt, seq } = this.streams[index]!;
      this.streams[index] = { count, occurredAt: occurredAt.slice(), seq: seq.slice() };
      this.ownsStream[index] = 1;
    }
    return this.streams[index]!;
  }

  /** The traits, copied before their first change. */
  ownTraits(): Record<string, Json> {
    if (!this.ownsTraits) this.traits = { ...this.traits };
    this.ownsTraits = true;
    return this.traits;
  }

  mark(items: readonly number[]): void {
    for (let i = 0; i < items.length; i++) this.dirty[items[i]!] = 1;
  }

  enterState(state: string): void {
    this.countMoveByTime();
    this.state = state;
    this.enteredAt = this.clock;
    this.stateBoundary = boundaryAt(this.clock, this.causeOrder());
  }

  setJourney(index: number, run: JourneyRun): void {
    this.journeys[index] = run;
    this.journeyBoundaries[index] = boundariesOf(run, this.model.journeySteps[index]!);
    this.journeysChanged = true;
  }

  setSegment(index: number, enteredAt: number | undefined): void {
    this.enteredSegmentAt[index] = enteredAt;
    this.mark(this.model.segmentReaders[index]!);
    this.segmentsChanged = true;
  }

  setPassed(rule: number): void {
    this.passedAt[rule] = this.clock;
    this.rulesChanged = true;
  }

  setSignal(index: number, signal: RaisedSignal | undefined): void {
    this.signals[index] = signal;
    this.mark(this.model.signalReaders[index]!);
    this.signalsChanged = true;
  }

  /** Notes something that happened in this evaluation, for the rules that wait for it. */
  noteOccasion(what: RuleOccasion, id: string): void {
    this.happenedIn.get(what)?.set(id, this.evaluation);
  }

  push(effect: EffectBody): void {
    this.effects.push({ at: this.clock, cause: this.cause(), ...effect });
  }

  emit(type: string, source: EmissionSource, metadata: Record<string, Json>): void {
    this.push({ kind: "emission", type, source, metadata, ...(this.isRuleActing && { byRule: true }) });
  }

  /** The position in order of the operation that is being evaluated (for an identify, when it was due); null at a timer. */
  causeOrder(): Order | null {
    if (this.operation !== null) return { occurredAt: this.operation.occurredAt, seq: this.operation.seq };
    return this.causeKind === "identify" ? this.identify : null;
  }

  /** What caused this evaluation: the event's id, `timer` or `identify`. */
  causeName(): string {
    return this.operation?.eventId ?? this.causeKind;
  }

  /** Converts the customer back to plain data. @param nextDueAt Infinity if nothing is due */
  toState(nextDueAt: number): CustomerState {
    const { origin, model } = this;
    for (const { index, capacity } of model.registry.streams) {
      if (this.ownsStream[index]) trimOccurrences(this.streams[index]!, capacity);
    }
    return {
      customerId: origin.customerId,
      createdAt: origin.createdAt,
      firstEvaluatedAt: instantOrNever(this.firstEvaluatedAt),
      evaluatedThrough: instantOrNever(this.clock),
      lastEventAt: instantOrNever(this.lastEventAt),
      lastTrack: this.lastTrack,
      traits: this.traits,
      traitsChangedAt: this.traitsChangedAt,
      ...(this.traitsChangedSeq !== UNKNOWN_SEQ && { traitsChangedSeq: this.traitsChangedSeq }),
      traitsDueAt: this.traitsDue.map(({ occurredAt }) => occurredAt),
      ...(this.traitsDue.length > 0 && { traitsDueSeqs: this.traitsDue.map(({ seq }) => seq) }),
      lifecycle:
        this.state === null
          ? null
          : { state: this.state, enteredAt: this.enteredAt, cause: orderOf(this.stateBoundary) },
      journeys: this.journeysChanged ? merged(origin.journeys, model.journeys, this.journeys) : origin.journeys,
      segments: this.segmentsChanged
        ? merged(origin.segments, model.segments, this.enteredSegmentAt.map(entry))
        : origin.segments,
      health: this.health,
      healthChangesAt: instantOrNever(this.healthChangesAt),
      rules: this.rulesChanged ? merged(origin.rules, model.rules, this.passedAt.map(pass)) : origin.rules,
      signals: this.signalsChanged ? merged(origin.signals, idsOf(model.signals), this.signals) : origin.signals,
      memory: {
        model: model.memoryKey,
        awaitsEvaluation: this.awaitsEvaluation,
        streams: this.streams,
        aggregates: this.aggregates.map((aggregate) => aggregate.save(this)),
        ...this.savedSearches(),
      },
      timerDueAt: instantOrNever(this.timerDueAt),
      ...(this.movesByTime > 0 ? { movesByTime: this.movesByTime } : {}),
      nextDueAt: instantOrNever(nextDueAt),
    };
  }

  private savedSearches(): Pick<ConditionMemory, "searches"> {
    const saved = this.searches.flatMap((search, number): SearchMemory[] => {
      const memory = this.model.registry.searched[number]!.isRemembered && search?.save(this);
      return memory ? [{ number, ...memory }] : [];
    });
    return saved.length === 0 ? {} : { searches: saved };
  }

  private cause(): Cause {
    if (this.operation !== null) return { kind: "event", eventId: this.operation.eventId };
    return this.causeKind === "identify" ? { kind: "identify" } : { kind: "timer" };
  }
}

function entry(enteredAt: number | undefined): { enteredAt: number } | undefined {
  return enteredAt === undefined ? undefined : { enteredAt };
}

function pass(passedAt: number | undefined): { passedAt: number } | undefined {
  return passedAt === undefined ? undefined : { passedAt };
}

function instantOrNever(instant: number): number | null {
  return Number.isFinite(instant) && instant <= LATEST_INSTANT ? instant : null;
}

function idsOf(parts: readonly { id: string }[]): string[] {
  return parts.map(({ id }) => id);
}

/** Updates the members of a record that the model knows and keeps the others. Sorted by id. */
function merged<T>(before: Record<string, T>, ids: readonly string[], values: readonly (T | undefined)[]) {
  const entries = new Map(Object.entries(before));
  ids.forEach((id, index) => {
    const value = values[index];
    if (value === undefined) entries.delete(id);
    else entries.set(id, value);
  });
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** The emission type for entering a state; `from` is null for the very first one. Corrections use the same types as live evaluation. */
export function lifecycleEmission(from: string | null, to: string): string {
  return from === null ? "customer.created" : `customer.${to}`;
}

/** A member of a record, unless it is only inherited. */
export function ownMember<T>(record: Record<string, T>, id: string): T | undefined {
  return Object.hasOwn(record, id) ? record[id] : undefined;
}
