import { LATEST_INSTANT } from "../model/snapshot/duration.js";
import { MOVES_BY_TIME_MAX } from "../model/snapshot/limits.js";
import type { Severity } from "../model/snapshot/types.js";
import { addOccurrence, trimOccurrences } from "./aggregates/occurrences.js";
import type { PropertyTest } from "./conditions/compare.js";
import { type Boundary, boundariesOf, boundaryAt, type JourneyBoundaries, NOTHING_COUNTS } from "./state/boundary.js";
import { orderOf } from "./state/boundary.js";
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

/** From when on occurrences count. */
export type BoundaryOf = (customer: OpenCustomer) => Boundary;

/** What is remembered of events for some conditions. Those that ask the same share it. */
interface Remembered {
  index: number;
  /** How many of the latest occurrences, or of different values, the conditions need; 0 where they need none. Grows while compiling. */
  capacity: number;
  /** The items of the model that read it, by position. */
  readonly items: number[];
  /** The conditions and measures of the snapshot that read it. */
  readonly sources: object[];
}

/** The stream of the occurrences of an event, with or without a property condition, that the model counts. */
export interface Stream extends Remembered {
  readonly event: string;
  readonly where: PropertyTest | null;
}

/** Something other than a number of occurrences: a sum, the different values, the latest value. */
export interface Aggregate extends Remembered {
  readonly kind: AggregateMemory["kind"];
  /** The events that it reads. */
  readonly events: readonly string[];
  /** Whether time alone changes what it remembers, as what leaves a window does. */
  readonly isMoving: boolean;
  /** Where it stood when each window and boundary had a memory of its own. */
  readonly formerPositions: number[];
  /** Of a count that is summed up: what is remembered of it, from the stream that its occurrences were remembered in before. */
  readonly fromStream: FromStream | null;
  /** Its working form, from what was remembered or from nothing. What was remembered is not changed. */
  open(memory: AggregateMemory | undefined): WorkingAggregate;
}

/** An aggregate of one customer during a call. Whatever was recorded in the call stays known until `save`. */
export interface WorkingAggregate {
  /**
   * Takes an event of one of its names in, whatever its place in order, and tells whether it concerns the aggregate.
   *
   * @throws {HistoryNeeded} if it takes earlier events to place it
   */
  record(customer: OpenCustomer, event: HistoryEvent): boolean;
  /**
   * What is to be remembered; the very object that it was opened with where nothing changed.
   *
   * @param occurrences of a window, how many of the oldest; as many as usual unless given
   */
  save(customer: OpenCustomer, occurrences?: number): AggregateMemory;
  /** A copy to look at another instant with; none where that changes nothing. */
  clone?(): WorkingAggregate;
  /** Of one that has copies: the instant from which on what leaves its window is read from history when it is opened again, or Infinity. */
  remembersUntil?(): number;
}

/** A number of the model whose next change by time alone has to be searched for: the measure of the snapshot, and what a search remembers. */
export interface SearchedNumber {
  readonly source: object;
  readonly aggregates: readonly Aggregate[];
  readonly anchors: number;
  /** Whether its search is remembered from call to call. */
  readonly isRemembered: boolean;
  /** The search, from what was remembered of it. */
  open(memory: SearchMemory): ChangeSearch;
}

/** The search for the next change of a number by time alone, kept while events come. */
export interface ChangeSearch {
  /** Whether what it has found so far holds for the customer as it is now. */
  isSound(customer: OpenCustomer, present: SearchMemory["present"]): boolean;
  /** Takes an event in that the customer is about to record, and tells whether the search may go on. */
  record(customer: OpenCustomer, event: HistoryEvent): boolean;
  /**
   * The earliest instant after the clock at which the number changes, or Infinity.
   *
   * @throws {HistoryNeeded} if it lies beyond the occurrences at hand
   */
  find(customer: OpenCustomer): number;
  /** What is to be remembered; null where beginning anew takes no history, or nothing holds any more. */
  save(customer: OpenCustomer): Omit<SearchMemory, "number"> | null;
}

/** What conditions read: the items whose values they read, what is remembered of events, and whether any event matters. */
export interface Reads {
  items: Set<string>;
  streams: Set<Stream>;
  aggregates: Set<Aggregate>;
  activity: boolean;
}

/** The earliest instant after the clock at which a condition changes by time alone, or Infinity. */
export type NextChange = (customer: OpenCustomer) => number;

/** What can happen to a part of a model that rules wait for, as the log names it before the part's id. */
export type RuleOccasion =
  | `${"lifecycle" | "segment" | "health"}.${"entered" | "exited"}`
  | `journey.${"started" | "step_completed" | "completed" | "expired"}`
  | `signal.${"raised" | "cleared"}`;

/** A part of a model with a value of its own, derived from operations, time and the values of other items. */
export interface DerivedPart {
  name: string;
  reads: Reads;
  /** Brings the value up to date at the customer's clock, adds the effects, and tells whether the value changed. */
  run(customer: OpenCustomer): boolean;
  /** The earliest instant after the clock at which a condition consulted in the present state changes by time alone. */
  nextChange: NextChange;
  /** The value and why it is so. */
  explain(customer: OpenCustomer): { [key: string]: Json };
}

/** What the conditions of a model remember of events. */
export interface EventReaders {
  readonly streams: readonly Stream[];
  readonly aggregates: readonly Aggregate[];
  readonly searched: readonly SearchedNumber[];
  readersOf(event: string): { streams: Stream[]; aggregates: Aggregate[] } | undefined;
}

/** A snapshot compiled to closures. Reusable for any number of customers; holds nothing of any of them. */
export interface Model extends MemoryKeys {
  /** Ids in the author's order. */
  journeys: string[];
  /** By journey: the ids of its steps. */
  journeySteps: string[][];
  segments: string[];
  rules: string[];
  signals: { id: string; severity: Severity; message?: string }[];
  registry: EventReaders;
  /** The events whose properties it reads. */
  propertyEvents: string[];
  /** In order of evaluation. */
  items: DerivedPart[];
  /** By item: the items that read its value; of the health also the rules that wait for its band. */
  readers: number[][];
  /** By segment, by signal: the items that read it; of a signal also the one that clears it. */
  segmentReaders: number[][];
  signalReaders: number[][];
  /** The items that any event concerns, and rules by the event that triggers them. */
  activityItems: number[];
  ruleItemsOf: Map<string, number[]>;
  /** What of its parts' turns rules wait for. */
  awaited: RuleOccasion[];
  /** The rules that a change of traits triggers. */
  traitRuleItems: number[];
  /** The position of the lifecycle among the items, or -1, and those of the journeys. */
  lifecycleItem: number;
  journeyItems: number[];
  /** The position of health that no condition reads, or -1. */
  refreshedItem: number;
}

/**
 * How much one call of the engine may do: asked before each instant but the first, with the effects so far. Where it says no, the call ends
 * with the instant before, and another call goes on from there. The end is the same whatever the budget.
 */
export type Budget = (effects: readonly Effect[]) => boolean;

/** Of an identify that was merged by a version that did not remember its place: before all others. */
const UNKNOWN_SEQ = 0;

export const UNBOUNDED: Budget = () => true;

/**
 * A customer while being evaluated: a mutable copy of the state, opened once per call. What the caller handed in is
 * copied before the first change, part by part.
 *
 * Instants are plain numbers here: -Infinity stands for a past that has not been, Infinity for a future that will not be.
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
  /** Merged identifies that await their evaluation: when they are due, and which was the last of that instant. */
  traitsDue: Order[];
  timerDueAt: number;
  /** How often time alone has moved the customer on since its last operation. */
  movesByTime: number;

  state: string | null;
  /** When the lifecycle state was entered, and what counts since then. */
  enteredAt: number;
  stateBoundary: Boundary;

  /** By journey of the model: its present or last run. */
  readonly journeys: (JourneyRun | undefined)[];
  readonly journeyBoundaries: JourneyBoundaries[];
  /** By segment of the model: when it was entered, or undefined outside it. */
  readonly enteredSegmentAt: (number | undefined)[];
  health: HealthScore | null;
  healthChangesAt: number;
  /** Whether the present evaluation scores health that no condition reads, and whether one that did not has met a change. */
  scoresHealth = false;
  healthIsStale = false;
  /** By rule of the model: when it last passed. */
  readonly passedAt: (number | undefined)[];
  /** By signal of the model, where it is raised. */
  readonly signals: (RaisedSignal | undefined)[];

  readonly streams: StreamMemory[];
  readonly aggregates: WorkingAggregate[];
  /** By position of the number: the search for its next change by time alone. */
  searches: (ChangeSearch | undefined)[] = [];
  awaitsEvaluation: boolean;
  /** Whether explanations tell when conditions flip, which may take the history of a whole window. */
  looksAhead = true;

  /** Operations ahead of the clock, in the order in which they will be due. */
  readonly waiting: TrackOperation[] = [];
  readonly effects: Effect[] = [];

  /** By item: to be evaluated; and when a condition it consults changes by time alone. */
  readonly dirty: Uint8Array;
  readonly dueAt: Float64Array;
  /** Counts evaluations, so that what concerns one of them needs no clearing. */
  evaluation = 0;
  operation: TrackedEvent | null = null;
  /** The last identify of those that are being evaluated: when it was due, and its place. */
  identify: Order | null = null;
  causeKind: "event" | "timer" | "identify" = "timer";
  /** The lifecycle states held in the evaluation `heldIn`. */
  held: string[] = [];
  heldIn = 0;
  /** The items that the present evaluation held back, because they had changed in it already. */
  blockedItems: number[] = [];
  /** Whether an instant was evaluated: one is, whatever the budget. */
  private hasBegun = false;
  /** By position: the last evaluation in which it happened. */
  readonly journeyStartedIn: number[] = [];
  readonly ruleRanIn: number[] = [];
  /** Of what rules of the model wait for, by the id that the log has of it: the last evaluation in which it happened. */
  readonly happenedIn: ReadonlyMap<RuleOccasion, Map<string, number>>;

  private readonly ownsStream: Uint8Array;
  private ownsTraits = false;
  private journeysChanged = false;
  private segmentsChanged = false;
  private rulesChanged = false;
  private signalsChanged = false;

  /** @param history the customer's evaluated events, as far as they are at hand */
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
    const remembered = aggregatesOf(model.registry.aggregates, model, memory, this.clock);
    this.aggregates = aggregates.map((aggregate, index) => aggregate.open(remembered?.[index]));
    const searches = memory.model === model.memoryKey ? memory.searches : undefined;
    for (const search of searches ?? []) this.searches[search.number] = searched[search.number]!.open(search);
    this.awaitsEvaluation = memory.awaitsEvaluation;
    this.happenedIn = new Map(model.awaited.map((what) => [what, new Map<string, number>()]));
    this.ownsStream = new Uint8Array(streams.length);
    this.dirty = new Uint8Array(model.items.length).fill(1);
    this.dueAt = new Float64Array(model.items.length).fill(Infinity);
  }

  /** While a rule that passed does what it does. */
  ruleActs = false;

  get isNew(): boolean {
    return this.clock === -Infinity;
  }

  /** Whether one more instant may be evaluated. */
  mayGoOn(): boolean {
    if (this.hasBegun) return this.budget(this.effects);
    this.hasBegun = true;
    return true;
  }

  /** Whether time alone may not move the customer on any more before its next operation. */
  get restsUntilOperation(): boolean {
    return this.causeKind === "timer" && this.movesByTime >= MOVES_BY_TIME_MAX;
  }

  /** Takes down that the present evaluation moved the customer on. */
  noteMove(): void {
    if (this.causeKind === "timer") this.movesByTime++;
  }

  /** Puts an event into the streams and aggregates that read it, and marks the items that read those. */
  record(event: HistoryEvent): void {
    const readers = this.model.registry.readersOf(event.event);
    if (readers === undefined) return;
    const { streams, aggregates } = readers;
    const { searches } = this;
    // What an event changes is told by what was remembered before it.
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
    this.noteMove();
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

  /** Takes down what happened in the present evaluation, for the rules that wait for it. */
  happened(what: RuleOccasion, id: string): void {
    this.happenedIn.get(what)?.set(id, this.evaluation);
  }

  push(effect: EffectBody): void {
    this.effects.push({ at: this.clock, cause: this.cause(), ...effect });
  }

  emit(type: string, source: EmissionSource, metadata: Record<string, Json>): void {
    this.push({ kind: "emission", type, source, metadata, ...(this.ruleActs && { byRule: true }) });
  }

  /** The place in order of the operation that is being evaluated, which is where an identify was due; null at a timer. */
  causeOrder(): Order | null {
    if (this.operation !== null) return { occurredAt: this.operation.occurredAt, seq: this.operation.seq };
    return this.causeKind === "identify" ? this.identify : null;
  }

  /** What is being evaluated, in a word: the event's id, `timer` or `identify`. */
  causeName(): string {
    return this.operation?.eventId ?? this.causeKind;
  }

  /** The customer as plain data again. `nextDueAt` is Infinity where nothing is due. */
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

/** The members of a record that the model knows as they now are, and the others as they were, by id in order. */
function merged<T>(before: Record<string, T>, ids: readonly string[], values: readonly (T | undefined)[]) {
  const entries = new Map(Object.entries(before));
  ids.forEach((id, index) => {
    const value = values[index];
    if (value === undefined) entries.delete(id);
    else entries.set(id, value);
  });
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** What entering a state is called, from null for the first of all. The same in a correction, so that nobody is told of a creation by another name. */
export function lifecycleEmission(from: string | null, to: string): string {
  return from === null ? "customer.created" : `customer.${to}`;
}

/** A member that a record has itself. */
export function ownMember<T>(record: Record<string, T>, id: string): T | undefined {
  return Object.hasOwn(record, id) ? record[id] : undefined;
}
