import type { OpenCustomer, WorkingAggregate } from "../open-customer.js";
import { scanHistory, firstWhere, isLater, justBefore } from "../state/history.js";
import type { ExtremeMemory, HistoryEvent, Order } from "../state/types.js";
import { OccurrenceQueue, REMEMBERED_OF_WINDOW } from "./occurrences.js";
import { AggregateScope, type ScopedSelection, select } from "./scope.js";

/**
 * The greatest value of a number property. An occurrence can become the greatest only if every later one has a smaller value, since
 * earlier ones leave first; so only these candidates are kept, and their values fall.
 *
 * For the least value, the selection reads negated numbers.
 */
export class ExtremeAggregate implements WorkingAggregate {
  private readonly candidates: OccurrenceQueue;
  private readonly scope: AggregateScope<number>;
  /** The position of the first candidate that is not loaded, with the greatest value of all that are not. */
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
    // The candidates that are not loaded are earlier and no greater: none can become the greatest any more.
    if (isLatest && this.othersFrom !== null && value >= this.othersFrom.value) this.forgetOthers();
    this.add(event, value);
    return true;
  }

  /** The greatest value at the customer's clock; undefined if there is none. */
  read(customer: OpenCustomer): number | undefined {
    this.followBoundary(customer);
    this.leave(customer);
    this.readOthers(customer, 0);
    return this.candidates.length === 0 ? undefined : this.candidates.value(0);
  }

  /**
   * The earliest instant after the clock at which a reading of the greatest value changes by time alone, or Infinity.
   *
   * @param limits the reading is constant or strictly monotone between two neighboring ones, and outside them all
   */
  nextChange(customer: OpenCustomer, reading: (greatest: number | undefined) => unknown, limits: readonly number[]) {
    const { within } = this.selection;
    const { candidates } = this;
    const current = reading(this.read(customer));
    for (;;) {
      const known = candidates.before(this.othersFrom);
      const next = this.changeIndexes(limits, known).find((index) => reading(candidates.value(index)) !== current);
      if (next !== undefined) return candidates.occurredAt(next - 1) + within;
      if (this.othersFrom === null) break;
      this.readOthers(customer, known);
    }
    const { length } = candidates;
    return length === 0 || reading(undefined) === current ? Infinity : candidates.occurredAt(length - 1) + within;
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
    const known = candidates.before(from);
    const kept = Math.min(known, occurrences);
    let othersFrom = from;
    if (kept < known) othersFrom = { ...candidates.order(kept), value: candidates.value(kept) };
    else if (from !== null && known < candidates.length)
      othersFrom = { ...from, value: Math.max(from.value, candidates.value(known)) };
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

  /** Removes candidates that have left the window. */
  private leave(customer: OpenCustomer): void {
    const start = customer.clock - this.selection.within;
    if (this.othersFrom !== null && this.scope.hasLeft(customer)) this.forgetOthers();
    while (this.candidates.length > 0 && this.candidates.occurredAt(0) <= start) {
      this.candidates.removeFirst();
      this.changed = true;
    }
  }

  /** Makes sure that the candidate at an index is the right one: loads the others from history if one of them may belong there. */
  private readOthers(customer: OpenCustomer, index: number): void {
    const from = this.othersFrom;
    if (from === null || index < this.candidates.before(from)) return;
    const start = customer.clock - this.selection.within;
    this.forgetOthers();
    scanHistory(customer, { event: this.selection.event, after: justBefore(from), until: null }, (event) => {
      const value = select(this.selection, event);
      if (value !== undefined && event.occurredAt > start) this.add(event, value);
      return true;
    });
  }

  /**
   * The indexes of candidates whose reading may differ once they are the greatest: the next one, and those at which the falling
   * values reach or pass a limit. Candidates of the same instant leave together.
   *
   * @param known only the first `known` candidates are considered
   */
  private changeIndexes(limits: readonly number[], known: number): number[] {
    const { candidates } = this;
    const atLimits = limits.flatMap((limit) => [
      firstWhere(known, (index) => candidates.value(index) <= limit),
      firstWhere(known, (index) => candidates.value(index) < limit),
    ]);
    return [1, ...atLimits]
      .filter((index) => index > 0 && index < known)
      .map((index) => {
        const isAlone = candidates.occurredAt(index - 1) !== candidates.occurredAt(index);
        return isAlone ? index : candidates.find(candidates.occurredAt(index), Infinity);
      })
      .filter((index) => index < known)
      .sort((a, b) => a - b);
  }

  private add({ occurredAt, seq }: Order, value: number): void {
    const { candidates, othersFrom: from } = this;
    if (this.selection.within === Infinity) {
      // Nothing leaves, so only the greatest is needed.
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
