import { MOVES_BY_TIME_MAX } from "../../model/snapshot/limits.js";
import { openAggregates, saveAggregates } from "../aggregates/aggregates.js";
import type {
  Boundary,
  EvaluationContext,
  JourneyBoundaries,
  Model,
  Stream,
  WorkingAggregate,
} from "../evaluation-context.js";
import { recordEvent } from "../model/registry.js";
import { copyStreamMemory, newStreamMemory, trimOccurrences } from "../model/streams.js";
import { boundariesOf, boundaryAt, NOTHING_COUNTS, orderOf } from "./boundary.js";
import { aggregatesOf } from "./memory.js";
import type {
  Cause,
  CustomerState,
  Effect,
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
  TrackOperation,
  TrackedEvent,
} from "./types.js";

/** The members of a record that the model knows as they now are, and the others as they were, by id in order. */
function merged<T>(
  before: Record<string, T>,
  ids: readonly string[],
  values: readonly (T | undefined)[],
): Record<string, T> {
  const entries = new Map(Object.entries(before));
  ids.forEach((id, index) => {
    const value = values[index];
    if (value === undefined) entries.delete(id);
    else entries.set(id, value);
  });
  return Object.fromEntries([...entries].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** A member that a record has itself. */
export function member<T>(record: Record<string, T>, id: string): T | undefined {
  return Object.hasOwn(record, id) ? record[id] : undefined;
}

/**
 * How much one call of the engine may do: asked before each instant but the first, with the effects so far. Where it says no, the call ends
 * with the instant before, and another call goes on from there. The end is the same whatever the budget.
 */
export type Budget = (effects: readonly Effect[]) => boolean;

export const UNBOUNDED: Budget = () => true;

/**
 * A customer while being evaluated: a mutable copy of the state, opened once per call. What the caller handed in is
 * copied before the first change, part by part.
 *
 * Instants are plain numbers here: -Infinity stands for a past that has not been, Infinity for a future that will not be.
 */
export class OpenCustomer implements EvaluationContext {
  readonly customerId: string;
  minuteOfDay: number | undefined;
  /** The customer's clock and, during an evaluation, its instant. */
  clock: number;
  firstEvaluatedAt: number;
  lastEventAt: number;
  lastTrack: CustomerState["lastTrack"];
  traits: Record<string, Json>;
  traitsChangedAt: number | null;
  traitsDueAt: number[];
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
  readonly segmentEnteredIn: number[] = [];
  readonly segmentExitedIn: number[] = [];
  readonly ruleRanIn: number[] = [];
  readonly signalRaisedIn: number[] = [];
  readonly signalClearedIn: number[] = [];

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
    this.customerId = origin.customerId;
    this.clock = origin.evaluatedThrough ?? -Infinity;
    this.firstEvaluatedAt = origin.firstEvaluatedAt ?? Infinity;
    this.lastEventAt = origin.lastEventAt ?? -Infinity;
    this.lastTrack = origin.lastTrack;
    this.traits = origin.traits;
    this.traitsChangedAt = origin.traitsChangedAt;
    this.traitsDueAt = origin.traitsDueAt.slice();
    this.timerDueAt = origin.timerDueAt ?? Infinity;
    this.movesByTime = origin.movesByTime ?? 0;
    const { lifecycle } = origin;
    this.state = lifecycle?.state ?? null;
    this.enteredAt = lifecycle?.enteredAt ?? Infinity;
    this.stateBoundary = lifecycle === null ? NOTHING_COUNTS : boundaryAt(lifecycle.enteredAt, lifecycle.cause);
    this.journeys = model.journeys.map((id) => member(origin.journeys, id));
    this.journeyBoundaries = this.journeys.map((run, index) => boundariesOf(run, model.journeySteps[index]!));
    this.enteredSegmentAt = model.segments.map((id) => member(origin.segments, id)?.enteredAt);
    this.health = origin.health;
    this.healthChangesAt = origin.healthChangesAt ?? Infinity;
    this.passedAt = model.rules.map((id) => member(origin.rules, id)?.passedAt);
    this.signals = model.signals.map(({ id }) => member(origin.signals, id));
    const { memory } = origin;
    this.streams = memory.model === null ? model.registry.streams.map(newStreamMemory) : memory.streams.slice();
    this.aggregates = openAggregates(model.registry, aggregatesOf(model, memory));
    this.awaitsEvaluation = memory.awaitsEvaluation;
    this.ownsStream = new Uint8Array(model.registry.streams.length);
    this.dirty = new Uint8Array(model.items.length).fill(1);
    this.dueAt = new Float64Array(model.items.length).fill(Infinity);
  }

  /** Whether the customer was ever evaluated. */
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

  /** Puts an event into the memory of the conditions that read it, and marks those. */
  record(event: HistoryEvent): void {
    recordEvent(this, event);
  }

  /** The memory of a stream, copied before its first change. */
  ownStream(stream: Stream): StreamMemory {
    if (!this.ownsStream[stream.index]) {
      this.streams[stream.index] = copyStreamMemory(this.streams[stream.index]!);
      this.ownsStream[stream.index] = 1;
    }
    return this.streams[stream.index]!;
  }

  /** The traits, copied before their first change. */
  ownTraits(): Record<string, Json> {
    if (!this.ownsTraits) {
      this.traits = { ...this.traits };
      this.ownsTraits = true;
    }
    return this.traits;
  }

  mark(items: readonly number[]): void {
    for (let i = 0; i < items.length; i++) this.dirty[items[i]!] = 1;
  }

  enterState(state: string): void {
    this.noteMove();
    this.state = state;
    this.enteredAt = this.clock;
    this.stateBoundary = boundaryAt(this.clock, this.operationOrder());
  }

  setJourney(index: number, run: JourneyRun): void {
    this.journeys[index] = run;
    this.journeyBoundaries[index] = boundariesOf(run, this.model.journeySteps[index]!);
    this.journeysChanged = true;
  }

  setSegment(index: number, enteredAt: number | undefined): void {
    this.enteredSegmentAt[index] = enteredAt;
    if (enteredAt === undefined) this.segmentExitedIn[index] = this.evaluation;
    else this.segmentEnteredIn[index] = this.evaluation;
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

  /** Adds an effect of the present evaluation. */
  push(effect: EffectBody): void {
    this.effects.push({ at: this.clock, cause: this.cause(), ...effect });
  }

  emit(type: string, source: EmissionSource, metadata: Record<string, Json>): void {
    this.push({ kind: "emission", type, source, metadata });
  }

  /** The place in order of the operation that is being evaluated; null at a timer or an identify. */
  operationOrder(): Order | null {
    return this.operation === null ? null : { occurredAt: this.operation.occurredAt, seq: this.operation.seq };
  }

  /** What is being evaluated, in a word: the event's id, `timer` or `identify`. */
  causeName(): string {
    return this.operation?.eventId ?? this.causeKind;
  }

  /** The customer as plain data again. `nextDueAt` is Infinity where nothing is due. */
  toState(nextDueAt: number): CustomerState {
    const { origin, model } = this;
    for (const stream of model.registry.streams) {
      if (this.ownsStream[stream.index]) trimOccurrences(this.streams[stream.index]!, stream.capacity);
    }
    return {
      customerId: origin.customerId,
      createdAt: origin.createdAt,
      firstEvaluatedAt: finite(this.firstEvaluatedAt),
      evaluatedThrough: finite(this.clock),
      lastEventAt: finite(this.lastEventAt),
      lastTrack: this.lastTrack,
      traits: this.traits,
      traitsChangedAt: this.traitsChangedAt,
      traitsDueAt: this.traitsDueAt,
      lifecycle:
        this.state === null
          ? null
          : { state: this.state, enteredAt: this.enteredAt, cause: orderOf(this.stateBoundary) },
      journeys: this.journeysChanged ? merged(origin.journeys, model.journeys, this.journeys) : origin.journeys,
      segments: this.segmentsChanged
        ? merged(origin.segments, model.segments, this.enteredSegmentAt.map(entry))
        : origin.segments,
      health: this.health,
      healthChangesAt: finite(this.healthChangesAt),
      rules: this.rulesChanged ? merged(origin.rules, model.rules, this.passedAt.map(pass)) : origin.rules,
      signals: this.signalsChanged
        ? merged(
            origin.signals,
            model.signals.map(({ id }) => id),
            this.signals,
          )
        : origin.signals,
      memory: {
        model: model.memoryKey,
        awaitsEvaluation: this.awaitsEvaluation,
        streams: this.streams,
        aggregates: saveAggregates(this),
      },
      timerDueAt: finite(this.timerDueAt),
      ...(this.movesByTime > 0 ? { movesByTime: this.movesByTime } : {}),
      nextDueAt: finite(nextDueAt),
    };
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

function finite(instant: number): number | null {
  return Number.isFinite(instant) ? instant : null;
}
