import { addOccurrence, copyStreamMemory, newStreamMemory, trimOccurrences, type Stream } from "./streams.js";
import type { Model } from "./model.js";
import type {
  Cause,
  CustomerState,
  Effect,
  EffectBody,
  HistoryEvent,
  Json,
  Order,
  StreamMemory,
  TrackOperation,
} from "./types.js";

/**
 * A customer while being evaluated: a mutable copy of the state, opened once per call. What the caller handed in is
 * copied before the first change, part by part.
 *
 * Instants are plain numbers here: -Infinity stands for a past that has not been, Infinity for a future that will not be.
 */
export class Working {
  /** The customer's clock and, during an evaluation, its instant. */
  clock: number;
  firstEvaluatedAt: number;
  lastEventAt: number;
  lastTrack: CustomerState["lastTrack"];
  traits: Record<string, Json>;
  traitsDueAt: number[];
  timerDueAt: number;

  state: string | null;
  /** When the lifecycle state was entered, and what may not count since then: the causing operation and all before it. */
  enteredAt: number;
  enteredByOccurredAt: number;
  enteredBySeq: number;

  /** By segment of the model: when it was entered, or undefined outside it. */
  readonly enteredSegmentAt: (number | undefined)[];
  readonly streams: StreamMemory[];
  awaitsEvaluation: boolean;

  /** Operations ahead of the clock, in the order in which they will be due. */
  readonly waiting: TrackOperation[] = [];
  readonly effects: Effect[] = [];

  /** By item: to be evaluated; and when a condition it consults changes by time alone. */
  readonly dirty: Uint8Array;
  readonly dueAt: Float64Array;
  /** Counts evaluations, so that what concerns one of them needs no clearing. */
  evaluation = 0;
  operation: TrackOperation | null = null;
  causeKind: Cause["kind"] = "timer";
  /** The lifecycle states held in the evaluation `heldIn`, and the evaluation that blocked a transition. */
  held: string[] = [];
  heldIn = 0;
  blockedIn = 0;

  private readonly ownsStream: Uint8Array;
  private ownsTraits = false;
  private segmentsChanged = false;

  constructor(
    readonly model: Model,
    private readonly origin: CustomerState,
  ) {
    this.clock = origin.evaluatedThrough ?? -Infinity;
    this.firstEvaluatedAt = origin.firstEvaluatedAt ?? Infinity;
    this.lastEventAt = origin.lastEventAt ?? -Infinity;
    this.lastTrack = origin.lastTrack;
    this.traits = origin.traits;
    this.traitsDueAt = origin.traitsDueAt.slice();
    this.timerDueAt = origin.timerDueAt ?? Infinity;
    this.state = origin.lifecycle?.state ?? null;
    this.enteredAt = origin.lifecycle?.enteredAt ?? Infinity;
    this.enteredByOccurredAt = origin.lifecycle?.cause?.occurredAt ?? -Infinity;
    this.enteredBySeq = origin.lifecycle?.cause?.seq ?? -Infinity;
    this.enteredSegmentAt = model.segments.map((id) =>
      Object.hasOwn(origin.segments, id) ? origin.segments[id]!.enteredAt : undefined,
    );
    const { memory } = origin;
    this.streams = memory.model === null ? model.streams.map(newStreamMemory) : memory.streams.slice();
    this.awaitsEvaluation = memory.awaitsEvaluation;
    this.ownsStream = new Uint8Array(model.streams.length);
    this.dirty = new Uint8Array(model.items.length).fill(1);
    this.dueAt = new Float64Array(model.items.length).fill(Infinity);
  }

  /** Whether the customer was ever evaluated. */
  get isNew(): boolean {
    return this.clock === -Infinity;
  }

  /** Puts an event into the streams that count it, and marks what reads them. */
  record(event: HistoryEvent): void {
    const streams = this.model.streamsOf.get(event.event);
    if (streams === undefined) return;
    for (const stream of streams) {
      if (stream.where !== null && !stream.where(event.properties)) continue;
      addOccurrence(this.ownStream(stream), stream.capacity, event.occurredAt, event.seq);
      for (const item of stream.items) this.dirty[item] = 1;
    }
  }

  /** The traits, copied before their first change. */
  ownTraits(): Record<string, Json> {
    if (!this.ownsTraits) {
      this.traits = { ...this.traits };
      this.ownsTraits = true;
    }
    return this.traits;
  }

  enterState(state: string): void {
    this.state = state;
    this.enteredAt = this.clock;
    this.enteredByOccurredAt = this.operation?.occurredAt ?? -Infinity;
    this.enteredBySeq = this.operation?.seq ?? -Infinity;
  }

  setSegment(index: number, enteredAt: number | undefined): void {
    this.enteredSegmentAt[index] = enteredAt;
    this.segmentsChanged = true;
  }

  /** Adds an effect of the present evaluation. */
  push(effect: EffectBody): void {
    this.effects.push({ at: this.clock, cause: this.cause(), ...effect });
  }

  /** The customer as plain data again. `nextDueAt` is Infinity where nothing is due. */
  toState(nextDueAt: number): CustomerState {
    const { origin, model } = this;
    for (const stream of model.streams) {
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
      traitsDueAt: this.traitsDueAt,
      lifecycle:
        this.state === null ? null : { state: this.state, enteredAt: this.enteredAt, cause: this.enteredByOrder() },
      segments: this.segmentsChanged ? this.collectSegments() : origin.segments,
      memory: { model: model.hash, awaitsEvaluation: this.awaitsEvaluation, streams: this.streams },
      timerDueAt: finite(this.timerDueAt),
      nextDueAt: finite(nextDueAt),
    };
  }

  private ownStream(stream: Stream): StreamMemory {
    if (!this.ownsStream[stream.index]) {
      this.streams[stream.index] = copyStreamMemory(this.streams[stream.index]!);
      this.ownsStream[stream.index] = 1;
    }
    return this.streams[stream.index]!;
  }

  private cause(): Cause {
    if (this.operation !== null) return { kind: "event", eventId: this.operation.eventId };
    return this.causeKind === "identify" ? { kind: "identify" } : { kind: "timer" };
  }

  private enteredByOrder(): Order | null {
    if (this.enteredByOccurredAt === -Infinity) return null;
    return { occurredAt: this.enteredByOccurredAt, seq: this.enteredBySeq };
  }

  /** Memberships by id in order; those of segments that the model does not know stay as they are. */
  private collectSegments(): CustomerState["segments"] {
    const enteredAt = new Map(Object.entries(this.origin.segments).map(([id, entry]) => [id, entry.enteredAt]));
    this.model.segments.forEach((id, index) => {
      const at = this.enteredSegmentAt[index];
      if (at === undefined) enteredAt.delete(id);
      else enteredAt.set(id, at);
    });
    const ids = [...enteredAt.keys()].sort();
    return Object.fromEntries(ids.map((id) => [id, { enteredAt: enteredAt.get(id)! }]));
  }
}

function finite(instant: number): number | null {
  return Number.isFinite(instant) ? instant : null;
}
