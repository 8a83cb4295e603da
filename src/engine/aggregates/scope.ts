import type { PropertyTest } from "../conditions/compare.js";
import { memberReader } from "../json.js";
import type { BoundaryOf, OpenCustomer } from "../open-customer.js";
import { type Boundary, boundaryMemory, counts, EVERYTHING_COUNTS, isSameBoundary } from "../state/boundary.js";
import { openBoundary } from "../state/boundary.js";
import { eachOfHistory, isLater } from "../state/history.js";
import type { BoundaryMemory, HistoryEvent, Json, Order, ScopeMemory } from "../state/types.js";

/** Which occurrences count. */
export interface CompiledScope {
  /** The length of the half-open window (t - within, t] in milliseconds; Infinity without one. */
  within: number;
  boundary: BoundaryOf | undefined;
}

/** The occurrences whose property an aggregate reads. */
export interface OccurrenceSelection<T> {
  event: string;
  where: PropertyTest | null;
  /** The value that an occurrence adds; undefined where it is passed over. */
  read: (properties: Record<string, Json>) => T | undefined;
}

/** Those of them that count. */
export interface ScopedSelection<T> extends OccurrenceSelection<T>, CompiledScope {}

/** Reads a finite number. */
export function numberReader(property: string): OccurrenceSelection<number>["read"] {
  const read = memberReader(property);
  return (properties) => {
    const value = read(properties);
    return typeof value === "number" && Number.isFinite(value) ? value : undefined;
  };
}

/** What an occurrence adds, if it is selected. */
export function select<T>({ where, read }: OccurrenceSelection<T>, event: HistoryEvent): T | undefined {
  return where === null || where(event.properties) ? read(event.properties) : undefined;
}

/**
 * The position of the first occurrence that counts at the customer's clock; their number where none does. They are in order, and
 * whatever is later than one that counts does so, too.
 *
 * @param earliest where the search begins
 */
export function firstInScope(
  customer: OpenCustomer,
  { within, boundary }: CompiledScope,
  { occurredAt, seq }: { readonly occurredAt: readonly number[]; readonly seq: readonly number[] },
  earliest: number,
): number {
  const start = customer.clock - within;
  const since = boundary?.(customer) ?? EVERYTHING_COUNTS;
  let first = earliest;
  let end = occurredAt.length;
  while (first < end) {
    const middle = (first + end) >>> 1;
    if (occurredAt[middle]! > start && counts(since, occurredAt[middle]!, seq[middle]!)) end = middle;
    else first = middle + 1;
  }
  return first;
}

/** The boundary that an aggregate stands at, and follows when it moves. */
export class FollowedBoundary {
  /** Null before the first look, and where everything counts. */
  private at: Boundary | null = null;

  constructor(
    private readonly of: BoundaryOf | undefined,
    memory?: BoundaryMemory,
  ) {
    if (memory !== undefined && of !== undefined) this.at = openBoundary(memory);
  }

  clone(): FollowedBoundary {
    return Object.assign(new FollowedBoundary(this.of), this);
  }

  /** Where it now is, if it has moved. */
  moved(customer: OpenCustomer): Boundary | null {
    if (this.of === undefined) return null;
    const boundary = this.of(customer);
    const before = this.at;
    if (boundary === before) return null;
    this.at = boundary;
    return before !== null && isSameBoundary(before, boundary) ? null : boundary;
  }

  counts({ occurredAt, seq }: Order): boolean {
    return this.at === null || counts(this.at, occurredAt, seq);
  }

  toMemory(): BoundaryMemory {
    return boundaryMemory(this.at);
  }
}

/** The last place in order before what can count since a boundary. */
export function placeBefore({ at, occurredAt, seq }: Boundary): Order {
  return { occurredAt: at, seq: occurredAt === at ? seq : -1 };
}

/**
 * From where on the occurrences of an aggregate count, for those with a window or a boundary. A boundary moves to the
 * customer's clock, so of what was before only occurrences at that very instant can still count: those of the call are
 * kept here, earlier ones are read from history.
 */
export class AggregateScope<T> {
  private readonly boundary: FollowedBoundary;
  private latest: Order | null;
  /** The latest occurrence of all evaluated before this call: whether history has anything since a boundary. */
  private readonly latestBefore: Order | null;
  /** The occurrences of this call at the latest instant of all. */
  private recent: { occurredAt: number; seq: number; value: T }[] = [];

  constructor(
    private readonly selection: ScopedSelection<T>,
    memory?: ScopeMemory | null,
  ) {
    this.latest = this.latestBefore = memory?.latest ?? null;
    this.boundary = new FollowedBoundary(selection.boundary, memory?.since);
  }

  clone(): AggregateScope<T> {
    const own: object = { boundary: this.boundary.clone(), recent: this.recent.slice() };
    return Object.assign(new AggregateScope<T>(this.selection), this, own);
  }

  /** Takes note of a selected occurrence, whether it counts or not, and tells whether it is the latest of all. */
  note({ occurredAt, seq }: HistoryEvent, value: T): boolean {
    if (this.selection.boundary !== undefined && occurredAt >= (this.latest?.occurredAt ?? -Infinity)) {
      if (occurredAt !== this.latest?.occurredAt) this.recent = [];
      this.recent.push({ occurredAt, seq, value });
    }
    if (this.latest !== null && !isLater(occurredAt, seq, this.latest)) return false;
    this.latest = { occurredAt, seq };
    return true;
  }

  /** Whether an occurrence counts since the boundary, and is not older than the window already. */
  includes(customer: OpenCustomer, order: Order): boolean {
    return order.occurredAt > customer.clock - this.selection.within && this.boundary.counts(order);
  }

  /** Whether an occurrence counts since the boundary, in the window or before it. */
  counts(order: Order): boolean {
    return this.boundary.counts(order);
  }

  /** Whether every occurrence is older than the window. */
  hasLeft(customer: OpenCustomer): boolean {
    return this.latest === null || this.latest.occurredAt <= customer.clock - this.selection.within;
  }

  moved(customer: OpenCustomer): Boundary | null {
    return this.boundary.moved(customer);
  }

  /**
   * Adds each occurrence since a boundary that has moved.
   *
   * @throws {HistoryNeeded} if occurrences at the instant of the boundary were evaluated before this call
   */
  addSince(customer: OpenCustomer, boundary: Boundary, add: (order: Order, value: T) => void): void {
    if (this.latestBefore !== null && this.boundary.counts(this.latestBefore)) {
      const { event } = this.selection;
      eachOfHistory(customer, { event, after: placeBefore(boundary), until: null }, (one) => {
        const value = select(this.selection, one);
        if (value !== undefined && this.boundary.counts(one)) add(one, value);
        return true;
      });
    }
    for (const one of this.recent) if (this.boundary.counts(one)) add(one, one.value);
  }

  toMemory(): ScopeMemory {
    return { latest: this.latest, since: this.boundary.toMemory() };
  }
}
