import type { WorkingAggregate } from "./aggregates.js";
import { counts, type Boundary, type BoundaryOf } from "./boundary.js";
import { boundaryMemory, isSameBoundary, openBoundary, type BoundaryMemory } from "./aggregate-scope.js";
import { eachOfHistory } from "./history.js";
import { OccurrenceLog, type LogMemory } from "./occurrence-log.js";
import { isLater } from "./order.js";
import { select, type Selection } from "./selection.js";
import type { HistoryEvent, Order } from "./types.js";
import type { Working } from "./working.js";

/** Whether a sequence has happened since its boundary, and otherwise the latest occurrences of its two events. */
export interface SequenceMemory {
  kind: "sequence";
  met: boolean;
  first: LogMemory | null;
  then: LogMemory | null;
  since: BoundaryMemory;
}

export interface SequenceSelection {
  first: Selection<true>;
  then: Selection<true>;
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

  record(customer: Working, event: HistoryEvent): boolean {
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

  read(customer: Working): boolean {
    this.#followBoundary(customer);
    return this.#met;
  }

  save(customer: Working): SequenceMemory {
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

  #hasFirstBefore(customer: Working, then: Order): boolean {
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

  #hasThenAfter(customer: Working, first: Order): boolean {
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
  #hasEvaluated(customer: Working, selection: Selection<true>, after: Order, until: Order): boolean {
    return !eachOfHistory(
      customer,
      { event: selection.event, after, until },
      (event) => select(selection, event) === undefined || !this.#counts(event),
    );
  }

  #counts({ occurredAt, seq }: Order): boolean {
    return this.#boundary === null || counts(this.#boundary, occurredAt, seq);
  }

  #followBoundary(customer: Working): void {
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
  #hasHappened(customer: Working): boolean {
    const { first, then, within } = this.selection;
    const thens = this.#since(customer, then, this.#then);
    if (thens.length === 0) return false;
    return this.#since(customer, first, this.#first).some((a) =>
      thens.some((b) => isLater(b.occurredAt, b.seq, a) && b.occurredAt - a.occurredAt < within),
    );
  }

  #since(customer: Working, selection: Selection<true>, log: OccurrenceLog): Order[] {
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
