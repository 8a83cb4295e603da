import { canonicalJson } from "../../model/snapshot/canonical.js";
import type { EventSelector, Field, Snapshot } from "../../model/snapshot/types.js";
import { compilePropertyCondition, type PropertyTest } from "../conditions/compare.js";
import type {
  Aggregate,
  BoundaryOf,
  EvaluationContext,
  Readers,
  ScopedAggregate,
  Stream,
  WorkingAggregate,
} from "../evaluation-context.js";
import { journeyStart } from "../state/boundary.js";
import type { AggregateMemory, HistoryEvent, Json } from "../state/types.js";
import { addOccurrence } from "./streams.js";

/** What tells an aggregate from others. */
export interface AggregateKey {
  kind: AggregateMemory["kind"];
  /** What is computed, of what. */
  of: Json;
  /** The window; null without one. */
  within: number | null;
  /** From when on occurrences count. */
  boundary: BoundaryOf | undefined;
  /** Whether what is remembered is the same for every window and boundary. */
  isShared: boolean;
}

/** What the conditions of a model remember of events: equal questions share a stream or an aggregate. */
export class AggregateRegistry {
  readonly streams: Stream[] = [];
  readonly aggregates: Aggregate[] = [];
  readonly #readers = new Map<string, Readers>();
  readonly #streamByKey = new Map<string, Stream>();
  readonly #aggregateByKey = new Map<string, Aggregate>();
  readonly #scopedByKey = new Map<string, ScopedAggregate>();
  readonly #boundaries: BoundaryOf[] = [];
  readonly #journeyStarts = new Map<number, BoundaryOf>();

  constructor(private readonly snapshot: Snapshot) {}

  /** What reads an event; undefined where nothing does. */
  readersOf(event: string): Readers | undefined {
    return this.#readers.get(event);
  }

  /** Whether conditions of different scopes share an aggregate. */
  get sharesAggregates(): boolean {
    return this.aggregates.length < this.#scopedByKey.size;
  }

  /**
   * The stream of an event's occurrences.
   *
   * @param source the condition or measure that reads it
   */
  stream(selector: EventSelector, source: object): Stream {
    const { event } = selector;
    const key = canonicalJson([event, selector.where ?? null]);
    const known = this.#streamByKey.get(key);
    if (known !== undefined) {
      known.sources.push(source);
      return known;
    }
    const stream: Stream = {
      index: this.streams.length,
      event,
      where: this.where(selector),
      capacity: 0,
      items: [],
      sources: [source],
    };
    this.streams.push(stream);
    this.#readersFor(event).streams.push(stream);
    this.#streamByKey.set(key, stream);
    return stream;
  }

  /**
   * An aggregate as it is read in one scope, made where there is none of that key.
   *
   * @param source the condition or measure that reads it
   */
  aggregate(
    { kind, of, within, boundary, isShared }: AggregateKey,
    events: readonly string[],
    open: (memory: AggregateMemory | null, aggregate: Aggregate) => WorkingAggregate,
    source: object,
  ): ScopedAggregate {
    const key = canonicalJson([of, within, boundary === undefined ? null : this.#boundaryNumber(boundary)]);
    const known = this.#scopedByKey.get(key);
    if (known !== undefined) {
      known.aggregate.sources.push(source);
      return known;
    }
    const aggregate = this.#aggregate(kind, isShared ? canonicalJson([of]) : key, events, open);
    aggregate.formerPositions.push(this.#scopedByKey.size);
    aggregate.sources.push(source);
    const scoped: ScopedAggregate = { aggregate, capacity: 0 };
    this.#scopedByKey.set(key, scoped);
    return scoped;
  }

  /** Since the start of a journey: one boundary for all that count from it, so that they share what is remembered. */
  journeyStart(index: number): BoundaryOf {
    const known = this.#journeyStarts.get(index) ?? journeyStart(index);
    this.#journeyStarts.set(index, known);
    return known;
  }

  /** The compiled property condition of a selector. */
  where({ event, where }: EventSelector): PropertyTest | null {
    const { events } = this.snapshot;
    if (where === undefined) return null;
    return compilePropertyCondition(where, Object.hasOwn(events, event) ? events[event]!.properties : {});
  }

  /** The declared type of a property. */
  field(event: string, property: string): Field | undefined {
    const { events } = this.snapshot;
    const fields = Object.hasOwn(events, event) ? events[event]!.properties : {};
    return Object.hasOwn(fields, property) ? fields[property] : undefined;
  }

  #aggregate(
    kind: AggregateMemory["kind"],
    key: string,
    events: readonly string[],
    open: (memory: AggregateMemory | null, aggregate: Aggregate) => WorkingAggregate,
  ): Aggregate {
    const known = this.#aggregateByKey.get(key);
    if (known !== undefined) return known;
    const aggregate: Aggregate = {
      kind,
      index: this.aggregates.length,
      events,
      capacity: 0,
      items: [],
      sources: [],
      formerPositions: [],
      open: (memory) => open(memory, aggregate),
    };
    this.aggregates.push(aggregate);
    for (const event of new Set(events)) this.#readersFor(event).aggregates.push(aggregate);
    this.#aggregateByKey.set(key, aggregate);
    return aggregate;
  }

  #readersFor(event: string): Readers {
    let readers = this.#readers.get(event);
    if (readers === undefined) this.#readers.set(event, (readers = { streams: [], aggregates: [] }));
    return readers;
  }

  #boundaryNumber(boundary: BoundaryOf): number {
    if (!this.#boundaries.includes(boundary)) this.#boundaries.push(boundary);
    return this.#boundaries.indexOf(boundary);
  }
}

/** Puts an event into the streams and aggregates that read it, and marks the items that read those. */
export function recordEvent(customer: EvaluationContext, event: HistoryEvent): void {
  const readers = customer.model.registry.readersOf(event.event);
  if (readers === undefined) return;
  const { streams, aggregates } = readers;
  for (let i = 0; i < streams.length; i++) {
    const stream = streams[i]!;
    if (stream.where !== null && !stream.where(event.properties)) continue;
    addOccurrence(customer.ownStream(stream), stream.capacity, event.occurredAt, event.seq);
    customer.mark(stream.items);
  }
  for (let i = 0; i < aggregates.length; i++) {
    const aggregate = aggregates[i]!;
    if (customer.aggregates[aggregate.index]!.record(customer, event)) customer.mark(aggregate.items);
  }
}
