import type { BoundaryOf, OpenCustomer, WorkingAggregate } from "../open-customer.js";
import { scanHistory, isLater, justBefore } from "../state/history.js";
import type { HistoryEvent, LogMemory, Order, SequenceMemory } from "../state/types.js";
import { OccurrenceQueue } from "./occurrences.js";
import { FollowedBoundary, type OccurrenceSelection, placeBefore, select } from "./scope.js";

/** How many of the latest occurrences are stored: a late event rarely belongs before all of them. */
export const REMEMBERED_OF_LOG = 8;

/** Occurrences in order, without values. All that are later than the floor are known; up to it, only those added in this call. */
class OccurrenceLog {
  readonly floor: Order | null;
  readonly #known: OccurrenceQueue;

  constructor(memory: LogMemory | null | undefined) {
    this.floor = memory?.floor ?? null;
    this.#known = new OccurrenceQueue(memory ? { ...memory, value: memory.seq } : undefined);
  }

  add({ occurredAt, seq }: Order): void {
    this.#known.insert(this.#known.find(occurredAt, seq), occurredAt, seq, seq);
  }

  /** The latest occurrence before a position. */
  before(position: Order): Order | null {
    return this.#at(this.#known.before(position) - 1);
  }

  /** The earliest occurrence after a position at which there is none. */
  after(position: Order): Order | null {
    return this.#at(this.#known.before(position));
  }

  all(): Order[] {
    return this.#known.lists.seq.map((_, index) => this.#known.order(index));
  }

  toMemory(): LogMemory {
    const cut = Math.max(0, this.#known.length - REMEMBERED_OF_LOG);
    const last = this.#at(cut - 1);
    const isHigher = last !== null && (this.floor === null || isLater(last.occurredAt, last.seq, this.floor));
    const floor = isHigher ? last : this.floor;
    // Occurrences up to the floor are known in this call only.
    const kept = this.all().filter(
      ({ occurredAt, seq }, index) => index >= cut && (floor === null || isLater(occurredAt, seq, floor)),
    );
    return { occurredAt: kept.map(({ occurredAt }) => occurredAt), seq: kept.map(({ seq }) => seq), floor };
  }

  #at(index: number): Order | null {
    return index < 0 || index >= this.#known.length ? null : this.#known.order(index);
  }
}

export interface SequenceSelection {
  first: OccurrenceSelection<true>;
  then: OccurrenceSelection<true>;
  /** The two are less than this many milliseconds apart. */
  within: number;
  boundary: BoundaryOf | undefined;
}

/** A `seq` later than that of every event of an instant. */
const LAST = Number.MAX_SAFE_INTEGER;

/**
 * Whether one occurrence and a later one, less than a duration apart, have happened. Once they have, it stays true; with a boundary,
 * until that moves.
 */
export class SequenceAggregate implements WorkingAggregate {
  readonly #first: OccurrenceLog;
  readonly #then: OccurrenceLog;
  readonly #boundary: FollowedBoundary;
  #met: boolean;
  #changed = false;

  constructor(
    private readonly selection: SequenceSelection,
    private readonly origin: SequenceMemory | undefined,
  ) {
    this.#first = new OccurrenceLog(origin?.first);
    this.#then = new OccurrenceLog(origin?.then);
    this.#met = origin?.met ?? false;
    this.#boundary = new FollowedBoundary(selection.boundary, origin?.since);
  }

  record(customer: OpenCustomer, event: HistoryEvent): boolean {
    const { first, then } = this.selection;
    this.#followBoundary(customer);
    if (this.#isSettled()) return false;
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

  read(customer: OpenCustomer): boolean {
    this.#followBoundary(customer);
    return this.#met;
  }

  save(customer: OpenCustomer): SequenceMemory {
    this.#followBoundary(customer);
    if (!this.#changed && this.origin !== undefined) return this.origin;
    const isSettled = this.#isSettled();
    return {
      kind: "sequence",
      met: this.#met,
      first: isSettled ? null : this.#first.toMemory(),
      then: isSettled ? null : this.#then.toMemory(),
      since: this.#boundary.toMemory(),
    };
  }

  /** Whether it has happened and can no longer become false. */
  #isSettled(): boolean {
    return this.#met && this.selection.boundary === undefined;
  }

  #hasFirstBefore(customer: OpenCustomer, then: Order): boolean {
    const { within, first } = this.selection;
    const { floor } = this.#first;
    const start = then.occurredAt - within;
    const nearest = this.#first.before(then);
    if (nearest !== null && nearest.occurredAt > start && this.#boundary.counts(nearest)) return true;
    if (floor === null || (nearest !== null && isLater(nearest.occurredAt, nearest.seq, floor))) return false;
    if (floor.occurredAt <= start || !this.#boundary.counts(floor)) return false;
    const until = isLater(then.occurredAt, then.seq, floor) ? floor : justBefore(then);
    return this.#hasEvaluated(customer, first, { occurredAt: start, seq: LAST }, until);
  }

  #hasThenAfter(customer: OpenCustomer, { occurredAt, seq }: Order): boolean {
    const first = { occurredAt, seq };
    if (!this.#boundary.counts(first)) return false;
    const { within, then } = this.selection;
    const { floor } = this.#then;
    const last = occurredAt + within - 1;
    const nearest = this.#then.after(first);
    if (nearest !== null && nearest.occurredAt <= last) return true;
    if (floor === null || !isLater(floor.occurredAt, floor.seq, first)) return false;
    return this.#hasEvaluated(
      customer,
      then,
      first,
      floor.occurredAt <= last ? floor : { occurredAt: last, seq: LAST },
    );
  }

  /** Whether history has an occurrence that counts, later than `after` and up to `until`. */
  #hasEvaluated(customer: OpenCustomer, of: OccurrenceSelection<true>, after: Order, until: Order): boolean {
    return !scanHistory(
      customer,
      { event: of.event, after, until },
      (event) => select(of, event) === undefined || !this.#boundary.counts(event),
    );
  }

  #followBoundary(customer: OpenCustomer): void {
    const since = this.#boundary.moved(customer);
    if (since === null) return;
    // Check the occurrences since the boundary: only those of its very instant, as it has moved to the clock.
    const { first, then, within } = this.selection;
    const after = placeBefore(since);
    const thens = this.#since(customer, then, this.#then, after);
    this.#met =
      thens.length > 0 &&
      this.#since(customer, first, this.#first, after).some((a) =>
        thens.some((b) => isLater(b.occurredAt, b.seq, a) && b.occurredAt - a.occurredAt < within),
      );
    this.#changed = true;
  }

  #since(customer: OpenCustomer, of: OccurrenceSelection<true>, log: OccurrenceLog, after: Order): Order[] {
    const { floor } = log;
    const since = log.all().filter((order) => this.#boundary.counts(order));
    if (floor === null || !this.#boundary.counts(floor)) return since;
    scanHistory(customer, { event: of.event, after, until: floor }, (event) => {
      if (select(of, event) !== undefined) since.push({ occurredAt: event.occurredAt, seq: event.seq });
      return true;
    });
    return since;
  }
}
