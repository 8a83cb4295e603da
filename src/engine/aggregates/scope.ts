import type { CompiledScope } from "../compile-context.js";
import type { Boundary, EvaluationContext } from "../evaluation-context.js";
import { type ScopedSelection, select } from "../selection.js";
import { boundaryAt, counts, EVERYTHING_COUNTS } from "../state/boundary.js";
import { eachOfHistory, isLater } from "../state/history.js";
import type { BoundaryMemory, HistoryEvent, Order, ScopeMemory } from "../state/types.js";

/**
 * The position of the first occurrence that counts at the customer's clock; their number where none does. They are in order, and
 * whatever is later than one that counts does so, too.
 *
 * @param earliest where the search begins
 */
export function firstInScope(
  customer: EvaluationContext,
  { within, boundary }: CompiledScope,
  occurredAt: readonly number[],
  seq: readonly number[],
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

/**
 * From where on the occurrences of an aggregate count, for those with a window or a boundary. A boundary moves to the
 * customer's clock, so of what was before only occurrences at that very instant can still count: those of the call are
 * kept here, earlier ones are read from history.
 */
export class AggregateScope<T> {
  #boundary: Boundary | null = null;
  #latest: Order | null;
  /** The latest occurrence of all evaluated before this call: whether history has anything since a boundary. */
  readonly #latestBefore: Order | null;
  /** The occurrences of this call at the latest instant of all. */
  #recent: { occurredAt: number; seq: number; value: T }[] = [];

  constructor(
    private readonly selection: ScopedSelection<T>,
    memory: ScopeMemory | null,
  ) {
    this.#latest = this.#latestBefore = memory?.latest ?? null;
    if (memory !== null && selection.boundary !== undefined) this.#boundary = openBoundary(memory.since);
  }

  clone(): AggregateScope<T> {
    const copy = new AggregateScope(this.selection, { latest: this.#latestBefore, since: null });
    copy.#boundary = this.#boundary;
    copy.#latest = this.#latest;
    copy.#recent = this.#recent.slice();
    return copy;
  }

  /** Takes note of a selected occurrence, whether it counts or not, and tells whether it is the latest of all. */
  note({ occurredAt, seq }: HistoryEvent, value: T): boolean {
    if (this.selection.boundary !== undefined && occurredAt >= (this.#latest?.occurredAt ?? -Infinity)) {
      if (occurredAt !== this.#latest?.occurredAt) this.#recent = [];
      this.#recent.push({ occurredAt, seq, value });
    }
    if (this.#latest !== null && !isLater(occurredAt, seq, this.#latest)) return false;
    this.#latest = { occurredAt, seq };
    return true;
  }

  /** Whether an occurrence counts since the boundary, and is not older than the window already. */
  includes(customer: EvaluationContext, { occurredAt, seq }: Order): boolean {
    if (occurredAt <= customer.clock - this.selection.within) return false;
    return this.#boundary === null || counts(this.#boundary, occurredAt, seq);
  }

  /** Whether every occurrence is older than the window. */
  hasLeft(customer: EvaluationContext): boolean {
    return this.#latest === null || this.#latest.occurredAt <= customer.clock - this.selection.within;
  }

  /**
   * Follows the boundary. Where it has moved, `clear` is called, and then `add` for each occurrence since it.
   *
   * @throws {HistoryNeeded} if occurrences at the instant of the boundary were evaluated before this call
   */
  follow(customer: EvaluationContext, clear: () => void, add: (order: Order, value: T) => void): void {
    if (this.selection.boundary === undefined) return;
    const boundary = this.selection.boundary(customer);
    const before = this.#boundary;
    if (boundary === before) return;
    this.#boundary = boundary;
    if (before !== null && isSameBoundary(before, boundary)) return;
    clear();
    if (this.#latestBefore !== null && counts(boundary, this.#latestBefore.occurredAt, this.#latestBefore.seq)) {
      this.#readSince(customer, boundary, add);
    }
    for (const one of this.#recent) if (counts(boundary, one.occurredAt, one.seq)) add(one, one.value);
  }

  toMemory(): ScopeMemory {
    return { latest: this.#latest, since: this.#boundary === null ? null : boundaryMemory(this.#boundary) };
  }

  #readSince(customer: EvaluationContext, boundary: Boundary, add: (order: Order, value: T) => void): void {
    const { event } = this.selection;
    const { at } = boundary;
    const after = boundary.occurredAt === at ? { occurredAt: at, seq: boundary.seq } : { occurredAt: at, seq: -1 };
    eachOfHistory(customer, { event, after, until: null }, (one) => {
      const value = select(this.selection, one);
      if (value !== undefined && counts(boundary, one.occurredAt, one.seq)) add(one, value);
      return true;
    });
  }
}

export function openBoundary(memory: BoundaryMemory): Boundary {
  return memory === null ? boundaryAt(Infinity, null) : boundaryAt(memory.at ?? -Infinity, memory.by);
}

export function boundaryMemory({ at, occurredAt, seq }: Boundary): BoundaryMemory {
  if (at === Infinity) return null;
  return { at: at === -Infinity ? null : at, by: occurredAt === -Infinity ? null : { occurredAt, seq } };
}

export function isSameBoundary(a: Boundary, b: Boundary): boolean {
  return a.at === b.at && a.occurredAt === b.occurredAt && a.seq === b.seq;
}
