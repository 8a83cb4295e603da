import type { OpenCustomer, WorkingAggregate } from "../open-customer.js";
import { eachOfHistory, firstWhere, isLater, justBefore } from "../state/history.js";
import type { ExtremeMemory, HistoryEvent, Order } from "../state/types.js";
import { OccurrenceQueue, REMEMBERED_OF_WINDOW } from "./occurrences.js";
import { AggregateScope, type ScopedSelection, select } from "./scope.js";

/**
 * The greatest value of a number property. Only occurrences that no later one reaches can ever be the greatest, since what is
 * earlier leaves first; so these alone are kept, and their values fall.
 *
 * For the least value, the selection reads numbers with their sign changed.
 */
export class ExtremeAggregate implements WorkingAggregate {
  private readonly candidates: OccurrenceQueue;
  private readonly scope: AggregateScope<number>;
  /** The first of those that are not at hand, with the greatest value of all such. */
  private othersFrom: ExtremeMemory["othersFrom"];
  private changed = false;

  constructor(
    private readonly selection: ScopedSelection<number>,
    private readonly origin: ExtremeMemory | undefined,
  ) {
    this.candidates = new OccurrenceQueue(origin?.oldest);
    this.scope = new AggregateScope(selection, origin?.scope);
    this.othersFrom = origin?.othersFrom ?? null;
  }

  clone(): ExtremeAggregate {
    const own: object = { candidates: this.candidates.clone(), scope: this.scope.clone() };
    return Object.assign(new ExtremeAggregate(this.selection, this.origin), this, own);
  }

  record(customer: OpenCustomer, event: HistoryEvent): boolean {
    const value = select(this.selection, event);
    if (value === undefined) return false;
    this.changed = true;
    this.followBoundary(customer);
    const isLatest = this.scope.note(event, value);
    if (!this.scope.includes(customer, event)) return false;
    // What is not remembered is earlier and no greater: it can never be the greatest again.
    if (isLatest && this.othersFrom !== null && value >= this.othersFrom.value) this.forgetOthers();
    this.add(event, value);
    return true;
  }

  /** The greatest value at the customer's clock; undefined without one. */
  read(customer: OpenCustomer): number | undefined {
    this.followBoundary(customer);
    this.leave(customer);
    this.readOthers(customer, 0);
    return this.candidates.length === 0 ? undefined : this.candidates.value(0);
  }

  /**
   * The earliest instant after the clock at which a reading of the greatest value changes by time alone, or Infinity.
   *
   * @param limits between two neighbouring ones of which, and outside them all, the reading is constant or strictly monotone
   */
  nextChange(customer: OpenCustomer, reading: (greatest: number | undefined) => unknown, limits: readonly number[]) {
    const { within } = this.selection;
    const { candidates } = this;
    const present = reading(this.read(customer));
    for (;;) {
      const known = candidates.before(this.othersFrom);
      const next = this.placesOfChange(limits, known).find((place) => reading(candidates.value(place)) !== present);
      if (next !== undefined) return candidates.occurredAt(next - 1) + within;
      if (this.othersFrom === null) break;
      this.readOthers(customer, known);
    }
    const { length } = candidates;
    return length === 0 || reading(undefined) === present ? Infinity : candidates.occurredAt(length - 1) + within;
  }

  remembersUntil(): number {
    const first = this.candidates.firstBeyond(REMEMBERED_OF_WINDOW, this.othersFrom);
    return first === null ? Infinity : first.occurredAt + this.selection.within;
  }

  save(customer: OpenCustomer, occurrences = REMEMBERED_OF_WINDOW): ExtremeMemory {
    this.followBoundary(customer);
    this.leave(customer);
    if (!this.changed && this.origin !== undefined && this.origin.oldest.seq.length <= occurrences) return this.origin;
    const { candidates, othersFrom: from } = this;
    const complete = candidates.before(from);
    const kept = Math.min(complete, occurrences);
    let othersFrom = from;
    if (kept < complete) othersFrom = { ...candidates.order(kept), value: candidates.value(kept) };
    else if (from !== null && complete < candidates.length)
      othersFrom = { ...from, value: Math.max(from.value, candidates.value(complete)) };
    return { kind: "extreme", oldest: candidates.toMemory(kept), othersFrom, scope: this.scope.toMemory() };
  }

  private followBoundary(customer: OpenCustomer): void {
    const boundary = this.scope.moved(customer);
    if (boundary === null) return;
    this.candidates.clear();
    this.forgetOthers();
    this.scope.addSince(customer, boundary, (order, value) => this.add(order, value));
  }

  private forgetOthers(): void {
    this.othersFrom = null;
    this.changed = true;
  }

  /** Takes away what has left the window. */
  private leave(customer: OpenCustomer): void {
    const start = customer.clock - this.selection.within;
    if (this.othersFrom !== null && this.scope.hasLeft(customer)) this.forgetOthers();
    while (this.candidates.length > 0 && this.candidates.occurredAt(0) <= start) {
      this.candidates.removeFirst();
      this.changed = true;
    }
  }

  /** Makes sure that the candidate of a place is the right one: reads the others, if one of them may stand there. */
  private readOthers(customer: OpenCustomer, index: number): void {
    const from = this.othersFrom;
    if (from === null || index < this.candidates.before(from)) return;
    const start = customer.clock - this.selection.within;
    this.forgetOthers();
    eachOfHistory(customer, { event: this.selection.event, after: justBefore(from), until: null }, (event) => {
      const value = select(this.selection, event);
      if (value !== undefined && event.occurredAt > start) this.add(event, value);
      return true;
    });
  }

  /**
   * The first so many candidates that may be the greatest with another reading when those before have left: the next one, and
   * those with which the values, which fall, reach or pass a limit. What occurred together leaves together.
   */
  private placesOfChange(limits: readonly number[], known: number): number[] {
    const { candidates } = this;
    const atLimits = limits.flatMap((limit) => [
      firstWhere(known, (place) => candidates.value(place) <= limit),
      firstWhere(known, (place) => candidates.value(place) < limit),
    ]);
    return [1, ...atLimits]
      .filter((place) => place > 0 && place < known)
      .map((place) => {
        const isAlone = candidates.occurredAt(place - 1) !== candidates.occurredAt(place);
        return isAlone ? place : candidates.find(candidates.occurredAt(place), Infinity);
      })
      .filter((place) => place < known)
      .sort((a, b) => a - b);
  }

  private add({ occurredAt, seq }: Order, value: number): void {
    const { candidates, othersFrom: from } = this;
    if (this.selection.within === Infinity) {
      // Nothing leaves, so the greatest is all there is to know.
      if (candidates.length > 0 && candidates.value(0) >= value) return;
      candidates.clear();
    }
    if (from !== null && value <= from.value && isLater(from.occurredAt, from.seq, { occurredAt, seq })) return;
    const at = candidates.find(occurredAt, seq);
    if (at < candidates.length && candidates.value(at) >= value) return;
    let first = at;
    while (first > 0 && candidates.value(first - 1) <= value) first--;
    candidates.remove(first, at - first);
    candidates.insert(first, occurredAt, seq, value);
  }
}
