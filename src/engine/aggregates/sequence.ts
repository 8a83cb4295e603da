import type { Boundary, BoundaryOf, EvaluationContext, WorkingAggregate } from "../evaluation-context.js";
import { type OccurrenceSelection, select } from "../selection.js";
import { counts } from "../state/boundary.js";
import { eachOfHistory, isLater } from "../state/history.js";
import type { HistoryEvent, LogMemory, Order, SequenceMemory } from "../state/types.js";
import { boundaryMemory, isSameBoundary, openBoundary } from "./scope.js";

/** How many of the latest occurrences are remembered: a late one rarely belongs before all of them. */
export const REMEMBERED_OF_LOG = 8;

/** Occurrences in order. What is later than the floor is known; before it, only what was added in this call. */
class OccurrenceLog {
  readonly floor: Order | null;
  readonly #occurredAt: number[];
  readonly #seq: number[];

  constructor(memory: LogMemory | null) {
    this.floor = memory?.floor ?? null;
    this.#occurredAt = memory?.occurredAt.slice() ?? [];
    this.#seq = memory?.seq.slice() ?? [];
  }

  add({ occurredAt, seq }: Order): void {
    const at = this.#find({ occurredAt, seq });
    this.#occurredAt.splice(at, 0, occurredAt);
    this.#seq.splice(at, 0, seq);
  }

  /** The latest one before a place in order. */
  before(order: Order): Order | null {
    return this.#at(this.#find(order) - 1);
  }

  /** The earliest one after a place in order, where nothing stands. */
  after(order: Order): Order | null {
    return this.#at(this.#find(order));
  }

  all(): Order[] {
    return this.#seq.map((_, index) => this.#at(index)!);
  }

  toMemory(): LogMemory {
    const cut = Math.max(0, this.#seq.length - REMEMBERED_OF_LOG);
    const last = this.#at(cut - 1);
    const floor =
      last !== null && (this.floor === null || isLater(last.occurredAt, last.seq, this.floor)) ? last : this.floor;
    const memory: LogMemory = { occurredAt: [], seq: [], floor };
    for (let i = cut; i < this.#seq.length; i++) {
      const order = this.#at(i)!;
      // What stands before the floor is known in this call only.
      if (floor !== null && !isLater(order.occurredAt, order.seq, floor)) continue;
      memory.occurredAt.push(order.occurredAt);
      memory.seq.push(order.seq);
    }
    return memory;
  }

  /** How many are earlier than a place in order; most come in order, so the search begins at the end. */
  #find(order: Order): number {
    let at = this.#seq.length;
    while (at > 0 && isLater(this.#occurredAt[at - 1]!, this.#seq[at - 1]!, order)) at--;
    while (at > 0 && this.#occurredAt[at - 1] === order.occurredAt && this.#seq[at - 1] === order.seq) at--;
    return at;
  }

  #at(index: number): Order | null {
    return index < 0 || index >= this.#seq.length
      ? null
      : { occurredAt: this.#occurredAt[index]!, seq: this.#seq[index]! };
  }
}

export interface SequenceSelection {
  first: OccurrenceSelection<true>;
  then: OccurrenceSelection<true>;
  /** Less than this many milliseconds lie between the two. */
  within: number;
  boundary: BoundaryOf | undefined;
}

/** Later than every event of an instant. */
const LAST = Number.MAX_SAFE_INTEGER;

/**
 * Whether one occurrence and a later one, less than a duration apart, have happened. Once they have it holds; where it counts
 * since a boundary, until that moves.
 */
export class SequenceAggregate implements WorkingAggregate {
  readonly #first: OccurrenceLog;
  readonly #then: OccurrenceLog;
  #met: boolean;
  #boundary: Boundary | null = null;
  #changed = false;

  constructor(
    private readonly selection: SequenceSelection,
    private readonly origin: SequenceMemory | null,
  ) {
    this.#first = new OccurrenceLog(origin?.first ?? null);
    this.#then = new OccurrenceLog(origin?.then ?? null);
    this.#met = origin?.met ?? false;
    if (origin !== null && selection.boundary !== undefined) this.#boundary = openBoundary(origin.since);
  }

  /** A clone is for looking at another instant, and that changes nothing here. */
  clone(): this {
    return this;
  }

  record(customer: EvaluationContext, event: HistoryEvent): boolean {
    this.#followBoundary(customer);
    if (this.#met && this.selection.boundary === undefined) return false;
    const { first, then } = this.selection;
    const isFirst = event.event === first.event && select(first, event) !== undefined;
    const isThen = event.event === then.event && select(then, event) !== undefined;
    if (!isFirst && !isThen) return false;
    const completes =
      !this.#met &&
      ((isThen && this.#hasFirstBefore(customer, event)) || (isFirst && this.#hasThenAfter(customer, event)));
    if (isFirst) this.#first.add(event);
    if (isThen) this.#then.add(event);
    this.#changed = true;
    if (completes) this.#met = true;
    return completes;
  }

  read(customer: EvaluationContext): boolean {
    this.#followBoundary(customer);
    return this.#met;
  }

  save(customer: EvaluationContext): SequenceMemory {
    this.#followBoundary(customer);
    if (!this.#changed && this.origin !== null) return this.origin;
    const isSettled = this.#met && this.selection.boundary === undefined;
    return {
      kind: "sequence",
      met: this.#met,
      first: isSettled ? null : this.#first.toMemory(),
      then: isSettled ? null : this.#then.toMemory(),
      since: this.#boundary === null ? null : boundaryMemory(this.#boundary),
    };
  }

  #hasFirstBefore(customer: EvaluationContext, then: Order): boolean {
    const { within, first } = this.selection;
    const log = this.#first;
    const start = then.occurredAt - within;
    const nearest = log.before(then);
    if (nearest !== null && nearest.occurredAt > start && this.#counts(nearest)) return true;
    const { floor } = log;
    if (floor === null || (nearest !== null && isLater(nearest.occurredAt, nearest.seq, floor))) return false;
    if (floor.occurredAt <= start || !this.#counts(floor)) return false;
    const until = isLater(then.occurredAt, then.seq, floor) ? floor : { ...then, seq: then.seq - 1 };
    return this.#hasEvaluated(
      customer,
      first,
      { occurredAt: start, seq: LAST },
      { occurredAt: until.occurredAt, seq: until.seq },
    );
  }

  #hasThenAfter(customer: EvaluationContext, first: Order): boolean {
    if (!this.#counts(first)) return false;
    const { within, then } = this.selection;
    const log = this.#then;
    const last = first.occurredAt + within - 1;
    const nearest = log.after(first);
    if (nearest !== null && nearest.occurredAt <= last) return true;
    const { floor } = log;
    if (floor === null || !isLater(floor.occurredAt, floor.seq, first)) return false;
    const until = floor.occurredAt <= last ? floor : { occurredAt: last, seq: LAST };
    return this.#hasEvaluated(customer, then, { occurredAt: first.occurredAt, seq: first.seq }, until);
  }

  /** Whether history has an occurrence that counts in a stretch of the order. */
  #hasEvaluated(
    customer: EvaluationContext,
    selection: OccurrenceSelection<true>,
    after: Order,
    until: Order,
  ): boolean {
    return !eachOfHistory(
      customer,
      { event: selection.event, after, until },
      (event) => select(selection, event) === undefined || !this.#counts(event),
    );
  }

  #counts({ occurredAt, seq }: Order): boolean {
    return this.#boundary === null || counts(this.#boundary, occurredAt, seq);
  }

  #followBoundary(customer: EvaluationContext): void {
    if (this.selection.boundary === undefined) return;
    const boundary = this.selection.boundary(customer);
    const before = this.#boundary;
    if (boundary === before) return;
    this.#boundary = boundary;
    if (before !== null && isSameBoundary(before, boundary)) return;
    this.#met = this.#hasHappened(customer);
    this.#changed = true;
  }

  /** Whether the sequence is among the occurrences since the boundary: those of its very instant, as it moves to the clock. */
  #hasHappened(customer: EvaluationContext): boolean {
    const { first, then, within } = this.selection;
    const thens = this.#since(customer, then, this.#then);
    if (thens.length === 0) return false;
    return this.#since(customer, first, this.#first).some((a) =>
      thens.some((b) => isLater(b.occurredAt, b.seq, a) && b.occurredAt - a.occurredAt < within),
    );
  }

  #since(customer: EvaluationContext, selection: OccurrenceSelection<true>, log: OccurrenceLog): Order[] {
    const { floor } = log;
    const since = log.all().filter((order) => this.#counts(order));
    if (floor === null || !this.#counts(floor)) return since;
    const { at, occurredAt, seq } = this.#boundary!;
    const after = occurredAt === at ? { occurredAt, seq } : { occurredAt: at, seq: -1 };
    eachOfHistory(customer, { event: selection.event, after, until: floor }, (event) => {
      if (select(selection, event) !== undefined) since.push({ occurredAt: event.occurredAt, seq: event.seq });
      return true;
    });
    return since;
  }
}
