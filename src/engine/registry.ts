import { canonicalJson } from "../snapshot/canonical.js";
import type { EventSelector, Field, Snapshot } from "../snapshot/types.js";
import type { Aggregate, AggregateMemory, WorkingAggregate } from "./aggregates.js";
import { journeyStart, type BoundaryOf } from "./boundary.js";
import { compilePropertyCondition, type PropertyTest } from "./compare.js";
import { addOccurrence, type Stream } from "./streams.js";
import type { HistoryEvent, Json } from "./types.js";
import type { Working } from "./working.js";

interface Readers {
  streams: Stream[];
  aggregates: Aggregate[];
}

/** What the conditions of a model remember of events: equal questions share a stream or an aggregate. */
export class Registry {
  readonly streams: Stream[] = [];
  readonly aggregates: Aggregate[] = [];
  readonly #readers = new Map<string, Readers>();
  readonly #streamByKey = new Map<string, Stream>();
  readonly #aggregateByKey = new Map<string, Aggregate>();
  readonly #boundaries: BoundaryOf[] = [];
  readonly #journeyStarts = new Map<number, BoundaryOf>();

  constructor(private readonly snapshot: Snapshot) {}

  /** What reads an event; undefined where nothing does. */
  readersOf(event: string): Readers | undefined {
    return this.#readers.get(event);
  }

  /**
   * The stream of an event's occurrences.
   *
   * @param holds a further test of an occurrence, with a key that tells it from others
   */
  stream(selector: EventSelector, holds?: { key: Json; test: PropertyTest }): Stream {
    const { event } = selector;
    const key = canonicalJson([event, selector.where ?? null, holds?.key ?? null]);
    const known = this.#streamByKey.get(key);
    if (known !== undefined) return known;
    const stream: Stream = {
      index: this.streams.length,
      event,
      where: both(this.where(selector), holds?.test ?? null),
      capacity: 0,
      items: [],
    };
    this.streams.push(stream);
    this.#readersFor(event).streams.push(stream);
    this.#streamByKey.set(key, stream);
    return stream;
  }

  /**
   * An aggregate, made where there is none of that key.
   *
   * @param key tells it from others, except for the boundary
   */
  aggregate<W extends WorkingAggregate>(
    key: Json,
    boundary: BoundaryOf | undefined,
    events: readonly string[],
    open: (memory: AggregateMemory | null, aggregate: Aggregate<W>) => W,
  ): Aggregate<W> {
    const text = canonicalJson([key, boundary === undefined ? null : this.#boundaryNumber(boundary)]);
    const known = this.#aggregateByKey.get(text);
    if (known !== undefined) return known as Aggregate<W>;
    const aggregate: Aggregate<W> = {
      index: this.aggregates.length,
      events,
      capacity: 0,
      items: [],
      open: (memory) => open(memory, aggregate),
    };
    this.aggregates.push(aggregate);
    for (const event of new Set(events)) this.#readersFor(event).aggregates.push(aggregate);
    this.#aggregateByKey.set(text, aggregate);
    return aggregate;
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
export function recordEvent(customer: Working, event: HistoryEvent): void {
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

function both(first: PropertyTest | null, second: PropertyTest | null): PropertyTest | null {
  if (first === null || second === null) return first ?? second;
  return (properties) => first(properties) && second(properties);
}
