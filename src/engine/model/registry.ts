import { canonicalJson } from "../../model/snapshot/canonical.js";
import type { EventSelector, Field, Snapshot } from "../../model/snapshot/types.js";
import type { CompiledScope } from "../aggregates/scope.js";
import { compilePropertyCondition, type PropertyTest } from "../conditions/compare.js";
import type {
  Aggregate,
  BoundaryOf,
  EventReaders,
  SearchedNumber,
  Stream,
  WorkingAggregate,
} from "../open-customer.js";
import type { FromStream } from "../state/layout.js";
import type { AggregateMemory, Json } from "../state/types.js";

type Readers = NonNullable<ReturnType<EventReaders["readersOf"]>>;

/** An aggregate for the conditions of one window and boundary. */
export interface ScopedAggregate {
  readonly aggregate: Aggregate;
  /** How many distinct values these conditions need. */
  capacity: number;
}

/** Kinds of aggregates whose memory is the same for every window and boundary. */
const SHARED: ReadonlySet<Aggregate["kind"]> = new Set<Aggregate["kind"]>(["distinct", "latest"]);

/** What the conditions of a model remember about events. Conditions that need the same share a stream or an aggregate. */
export class AggregateRegistry implements EventReaders {
  readonly streams: Stream[] = [];
  readonly aggregates: Aggregate[] = [];
  readonly searched: SearchedNumber[] = [];
  readonly #readers = new Map<string, Readers>();
  readonly #streamByKey = new Map<string, Stream>();
  readonly #aggregateByKey = new Map<string, Aggregate>();
  readonly #scopedByKey = new Map<string, ScopedAggregate>();
  /** Summed-up counts: they come after all other aggregates, whose indexes are those of a former layout without such counts. */
  readonly #counts: Aggregate[] = [];
  readonly #boundaries: BoundaryOf[] = [];
  /** Whether a condition counts from the later of two boundaries. */
  hasLaterBoundaries = false;
  /** The number of windows of stored searches, not including those of summed-up counts. */
  windowsAhead = 0;
  readonly #journeyStarts = new Map<number, BoundaryOf>();

  constructor(private readonly snapshot: Snapshot) {}

  readersOf(event: string): Readers | undefined {
    return this.#readers.get(event);
  }

  /** Whether conditions of different scopes share an aggregate. */
  get sharesAggregates(): boolean {
    return this.aggregates.length < this.#scopedByKey.size;
  }

  get sumsCounts(): boolean {
    return this.aggregates.some(({ fromStream }) => fromStream !== null);
  }

  /** The stream of an event's occurrences. @param source the condition or measure that reads it */
  stream(selector: EventSelector, source: object): Stream {
    const { event } = selector;
    const stream = getOrMake(this.#streamByKey, canonicalJson([event, selector.where ?? null]), () => {
      const { length: index } = this.streams;
      const made: Stream = { index, event, where: this.where(selector), capacity: 0, items: [], sources: [] };
      this.streams.push(made);
      this.#readersFor(event).streams.push(made);
      return made;
    });
    stream.sources.push(source);
    return stream;
  }

  /**
   * An aggregate in one scope; created if there is none of that key yet.
   *
   * @param of a key for what is computed from which events
   * @param source the condition or measure that reads it
   * @param fromStream for a summed-up count
   */
  aggregate(
    kind: Aggregate["kind"],
    of: Json,
    { within, boundary }: CompiledScope,
    events: readonly string[],
    open: (memory: AggregateMemory | undefined, aggregate: Aggregate) => WorkingAggregate,
    source: object,
    fromStream: FromStream | null = null,
  ): ScopedAggregate {
    const window = within === Infinity ? null : within;
    const key = canonicalJson([of, window, boundary === undefined ? null : this.#boundaryNumber(boundary)]);
    const scoped = getOrMake(this.#scopedByKey, key, () => {
      const aggregate = getOrMake(this.#aggregateByKey, SHARED.has(kind) ? canonicalJson([of]) : key, () =>
        this.#makeAggregate(kind, events, window !== null, open, fromStream),
      );
      aggregate.formerPositions.push(this.#scopedByKey.size - this.#counts.length);
      return { aggregate, capacity: 0 };
    });
    scoped.aggregate.sources.push(source);
    return scoped;
  }

  /** To be called after all conditions are compiled. */
  close(): void {
    for (const count of this.#counts) {
      count.index = this.aggregates.length;
      this.aggregates.push(count);
    }
    this.#counts.length = 0;
  }

  /** The boundary at the start of a journey: one function for all conditions that count from it, so that they share memory. */
  journeyStart(index: number): BoundaryOf {
    return getOrMake(this.#journeyStarts, index, () => (customer) => customer.journeyBoundaries[index]!.start);
  }

  /** The compiled property condition of a selector. */
  where({ event, where }: EventSelector): PropertyTest | null {
    return where === undefined ? null : compilePropertyCondition(where, this.#fieldsOf(event));
  }

  /** The declared type of a property. */
  field(event: string, property: string): Field | undefined {
    const fields = this.#fieldsOf(event);
    return Object.hasOwn(fields, property) ? fields[property] : undefined;
  }

  #fieldsOf(event: string): Readonly<Record<string, Field>> {
    const { events } = this.snapshot;
    return Object.hasOwn(events, event) ? events[event]!.properties : {};
  }

  #makeAggregate(
    kind: Aggregate["kind"],
    events: readonly string[],
    isWindowed: boolean,
    open: (memory: AggregateMemory | undefined, aggregate: Aggregate) => WorkingAggregate,
    fromStream: FromStream | null,
  ): Aggregate {
    const aggregate: Aggregate = {
      kind,
      index: this.aggregates.length,
      events,
      isMoving: isWindowed && (kind === "sum" || kind === "extreme"),
      capacity: 0,
      items: [],
      sources: [],
      formerPositions: [],
      fromStream,
      open: (memory) => open(memory, aggregate),
    };
    (fromStream === null ? this.aggregates : this.#counts).push(aggregate);
    for (const event of new Set(events)) this.#readersFor(event).aggregates.push(aggregate);
    return aggregate;
  }

  #readersFor(event: string): Readers {
    return getOrMake(this.#readers, event, () => ({ streams: [], aggregates: [] }));
  }

  #boundaryNumber(boundary: BoundaryOf): number {
    if (!this.#boundaries.includes(boundary)) this.#boundaries.push(boundary);
    return this.#boundaries.indexOf(boundary);
  }
}

function getOrMake<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make();
  map.set(key, made);
  return made;
}
