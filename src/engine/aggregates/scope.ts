import type { PropertyTest } from "../conditions/compare.js";
import { memberReader } from "../json.js";
import type { BoundaryOf, OpenCustomer } from "../open-customer.js";
import {
  type Boundary,
  boundaryMemory,
  counts,
  EVERYTHING_COUNTS,
  isSameBoundary,
  openBoundary,
} from "../state/boundary.js";
import { scanHistory, isLater } from "../state/history.js";
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
  /** The value that an occurrence adds; undefined if it is ignored. */
  read: (properties: Record<string, Json>) => T | undefined;
}

/** The occurrences among these that count. */
export interface ScopedSelection<T> extends OccurrenceSelection<T>, CompiledScope {}

/** Reads a finite number. */
export function numberReader(property: string): OccurrenceSelection<number>["read"] {
  const read = memberReader(property);
  return (properties) => {
    const value = read(properties);
    return typeof value === "number" && Number.isFinite(value) ? value : undefined;
  };
}

/** The value that an occurrence adds; undefined if it is not selected. */
export function select<T>({ where, read }: OccurrenceSelection<T>, event: HistoryEvent): T | undefined {
  return where === null || where(event.properties) ? read(event.properties) : undefined;
}

/**
 * The index of the first occurrence that counts at the customer's clock; the number of occurrences if none does. They are in order,
 * and every occurrence after one that counts also counts.
 *
 * @param earliest the index where the search begins
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

/** The boundary that an aggregate was computed for, which it follows when the boundary moves. */
export class FollowedBoundary {
  /** Null before the first call of `moved`, and if everything counts. */
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

  /** Returns the new boundary if it has moved since the last call, otherwise null. */
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

/** The last position in order before everything that can count since a boundary. */
export function placeBefore({ at, occurredAt, seq }: Boundary): Order {
  return { occurredAt: at, seq: occurredAt === at ? seq : -1 };
}

/**
 * The scope of an aggregate with a window or a boundary. When a boundary moves, it moves to the customer's clock, so of the earlier
 * occurrences only those at that very instant can still count: those of this call are kept here, those of earlier calls are read
 * from history.
 */
export class AggregateScope<T> {
  private readonly boundary: FollowedBoundary;
  private latest: Order | null;
  /** The latest occurrence evaluated before this call; it tells whether history has anything since a boundary. */
  private readonly latestBefore: Order | null;
  /** The occurrences of this call at the latest instant seen. */
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

  /** Notes a selected occurrence, whether it counts or not. Returns whether it is the latest so far. */
  note({ occurredAt, seq }: HistoryEvent, value: T): boolean {
    if (this.selection.boundary !== undefined && occurredAt >= (this.latest?.occurredAt ?? -Infinity)) {
      if (occurredAt !== this.latest?.occurredAt) this.recent = [];
      this.recent.push({ occurredAt, seq, value });
    }
    if (this.latest !== null && !isLater(occurredAt, seq, this.latest)) return false;
    this.latest = { occurredAt, seq };
    return true;
  }

  /** Whether an occurrence counts since the boundary and is not older than the window. */
  includes(customer: OpenCustomer, order: Order): boolean {
    return order.occurredAt > customer.clock - this.selection.within && this.boundary.counts(order);
  }

  /** Whether an occurrence counts since the boundary, whether in the window or before it. */
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
   * Calls `add` for each occurrence since a boundary that has moved.
   *
   * @throws {HistoryNeeded} if occurrences at the instant of the boundary were evaluated before this call
   */
  addSince(customer: OpenCustomer, boundary: Boundary, add: (order: Order, value: T) => void): void {
    if (this.latestBefore !== null && this.boundary.counts(this.latestBefore)) {
      const { event } = this.selection;
      scanHistory(customer, { event, after: placeBefore(boundary), until: null }, (one) => {
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
