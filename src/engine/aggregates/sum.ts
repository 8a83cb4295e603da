import { DecimalSum } from "../decimal.js";
import type { OpenCustomer, WorkingAggregate } from "../open-customer.js";
import { justBefore, readHistory } from "../state/history.js";
import type { HistoryEvent, Order, SumMemory } from "../state/types.js";
import { OccurrenceQueue, REMEMBERED_OF_WINDOW } from "./occurrences.js";
import { AggregateScope, type ScopedSelection, select } from "./scope.js";

/** What is asked of a sum: any function of it and of how many numbers it is the sum of. */
export type SumReading<V> = (sum: DecimalSum, count: number) => V;

/** How far the search for the next change of a reading has come: it stops where what has left makes the reading another one. */
interface Search {
  reading: SumReading<unknown>;
  present: unknown;
  steady: "not rising" | "not falling" | undefined;
  /** The sum of what remains when everything up to `instant` has left, and how many numbers that are. */
  rest: DecimalSum;
  count: number;
  instant: number;
  /** Whether occurrences came since, so that the search has to go on. */
  isOpen: boolean;
  at: number;
}

/** The exact sum of a number property, and how many numbers it is the sum of. */
export class SumAggregate implements WorkingAggregate {
  private sum: DecimalSum;
  private count: number;
  /** How many of the numbers are above and below zero. */
  private positive: number;
  private negative: number;
  private readonly scope: AggregateScope<number> | null;
  /** The occurrences in the window. Of those from `othersFrom` on, only the ones of this call; `others` more are not here. */
  private readonly window: OccurrenceQueue | null;
  private others: number;
  private othersFrom: Order | null;
  private searches: Search[] = [];
  private changed = false;

  constructor(
    private readonly selection: ScopedSelection<number>,
    private readonly origin: SumMemory | undefined,
  ) {
    const isWindow = selection.within !== Infinity;
    const isScoped = isWindow || selection.boundary !== undefined;
    this.scope = isScoped ? new AggregateScope(selection, origin?.scope) : null;
    this.window = isWindow ? new OccurrenceQueue(origin?.window?.oldest) : null;
    this.sum = origin === undefined ? new DecimalSum() : DecimalSum.from(origin.sum);
    this.count = origin?.count ?? 0;
    this.positive = origin?.positive ?? 0;
    this.negative = origin?.negative ?? 0;
    this.others = origin?.window?.others ?? 0;
    this.othersFrom = origin?.window?.othersFrom ?? null;
  }

  clone(): SumAggregate {
    const { sum, scope, window } = this;
    const own: object = {
      sum: sum.clone(),
      scope: scope && scope.clone(),
      window: window && window.clone(),
      searches: [],
    };
    return Object.assign(new SumAggregate(this.selection, this.origin), this, own);
  }

  record(customer: OpenCustomer, event: HistoryEvent): boolean {
    const value = select(this.selection, event);
    if (value === undefined) return false;
    this.changed = true;
    if (this.scope !== null) {
      this.followBoundary(customer, this.scope);
      this.scope.note(event, value);
      if (!this.scope.includes(customer, event)) return false;
    }
    this.add(event, value);
    return true;
  }

  /** Some reading of the sum at the customer's clock. */
  read<V>(customer: OpenCustomer, reading: SumReading<V>): V {
    if (this.scope !== null) {
      this.followBoundary(customer, this.scope);
      while (this.needsHistory(customer, this.scope)) this.readPage(customer);
      this.leave(customer, this.scope);
    }
    return reading(this.sum, this.count);
  }

  /**
   * The earliest instant after the clock at which a reading changes by time alone, or Infinity. It must be one of a window.
   *
   * @param steadyAs tells that the reading stays what it is as long as the sum does not rise, or does not fall
   * @throws {HistoryNeeded} if that lies beyond the occurrences at hand
   */
  nextChange<V>(
    customer: OpenCustomer,
    reading: SumReading<V>,
    steadyAs?: (value: V) => "not rising" | "not falling",
  ): number {
    const present = this.read(customer, reading);
    const steady = steadyAs?.(present);
    // What leaves takes its value along: where no number is below zero, the sum does not rise.
    if (steady === "not rising" && this.negative === 0) return Infinity;
    if (steady === "not falling" && this.positive === 0) return Infinity;
    const search = this.search(customer, reading, present, steady);
    if (!search.isOpen) return search.at;
    search.isOpen = false;
    search.at = this.findChange(customer, search);
    return search.at;
  }

  /** The earliest instant after the clock at which something may leave the window, or Infinity. It must be one of a window. */
  nextLeave(customer: OpenCustomer): number {
    this.read(customer, () => undefined);
    if (this.count === 0) return Infinity;
    const window = this.window!;
    const isAtHand = window.before(this.othersFrom) > 0;
    return (isAtHand ? window.occurredAt(0) : this.othersFrom!.occurredAt) + this.selection.within;
  }

  /** Whether no number is below zero, so that what remains when some have left is not either. */
  get isNonNegative(): boolean {
    return this.negative === 0;
  }

  save(customer: OpenCustomer): SumMemory {
    const { scope, window } = this;
    if (scope !== null) {
      this.followBoundary(customer, scope);
      if (!this.needsHistory(customer, scope)) this.leave(customer, scope);
    }
    if (!this.changed && this.origin !== undefined) return this.origin;
    return {
      kind: "sum",
      sum: this.sum.toMemory(),
      count: this.count,
      positive: this.positive,
      negative: this.negative,
      scope: scope && scope.toMemory(),
      window: window && this.saveWindow(window),
    };
  }

  private saveWindow(window: OccurrenceQueue): SumMemory["window"] {
    const complete = window.before(this.othersFrom);
    const kept = Math.min(complete, REMEMBERED_OF_WINDOW);
    return {
      oldest: window.toMemory(kept),
      others: this.others + window.length - kept,
      othersFrom: kept < complete ? window.order(kept) : this.othersFrom,
    };
  }

  private followBoundary(customer: OpenCustomer, scope: AggregateScope<number>): void {
    const boundary = scope.moved(customer);
    if (boundary === null) return;
    this.clear();
    scope.addSince(customer, boundary, (order, value) => this.add(order, value));
  }

  /** Whether something that is not at hand may have left the window. */
  private needsHistory(customer: OpenCustomer, scope: AggregateScope<number>): boolean {
    const from = this.othersFrom;
    return from !== null && from.occurredAt <= customer.clock - this.selection.within && !scope.hasLeft(customer);
  }

  /** Takes away what has left the window. */
  private leave(customer: OpenCustomer, scope: AggregateScope<number>): void {
    const { window } = this;
    if (window === null || this.count === 0) return;
    if (scope.hasLeft(customer)) return this.clear();
    const start = customer.clock - this.selection.within;
    while (window.length > 0 && window.occurredAt(0) <= start) {
      this.take(window.value(0), -1);
      window.removeFirst();
      this.changed = true;
    }
  }

  /** The search for the change of a reading: the former one, if what was added since cannot have brought the change forward. */
  private search(customer: OpenCustomer, reading: SumReading<unknown>, present: unknown, steady: Search["steady"]) {
    const at = this.searches.findIndex((search) => search.reading === reading);
    const former = this.searches[at];
    if (former !== undefined && former.present === present) {
      const isAhead = former.isOpen ? former.instant + this.selection.within : former.at;
      if (isAhead > customer.clock) return former;
    }
    const { sum, count } = this;
    const rest = sum.clone();
    const search = { reading, present, steady, rest, count, instant: -Infinity, isOpen: true, at: Infinity };
    this.searches[former === undefined ? this.searches.length : at] = search;
    return search;
  }

  /** Takes away what leaves, instant by instant, until the reading is another one. */
  private findChange(customer: OpenCustomer, search: Search): number {
    const window = this.window!;
    const { within } = this.selection;
    const { rest, reading } = search;
    const hasChanged = (): boolean => search.instant !== -Infinity && reading(rest, search.count) !== search.present;
    let i = window.find(search.instant, Infinity);
    while (search.count > 0) {
      // Otherwise it is one that is still to be read.
      const isAtHand = i < window.before(this.othersFrom);
      const next = isAtHand ? window.occurredAt(i) : this.othersFrom!.occurredAt;
      // What occurred together leaves together.
      if (next > search.instant && hasChanged()) return search.instant + within;
      if (isAtHand) {
        search.instant = next;
        rest.subtract(window.value(i));
        search.count--;
        i++;
      } else if (this.readPage(customer)) {
        // The history has lost something, and the sum has become another one.
        return this.nextChange(customer, reading);
      }
    }
    return hasChanged() ? search.instant + within : Infinity;
  }

  /** Reads some more of the window from history; true where the history has lost some of it, which is then given up. */
  private readPage(customer: OpenCustomer): boolean {
    const window = this.window!;
    const { event } = this.selection;
    const request = { event, after: justBefore(this.othersFrom!), until: null };
    const { events, complete } = readHistory(customer, request);
    for (const one of events) {
      const value = select(this.selection, one);
      if (value === undefined) continue;
      window.insert(window.find(one.occurredAt, one.seq), one.occurredAt, one.seq, value);
      this.others--;
    }
    const last = events.at(-1);
    if (last !== undefined && !complete && this.others > 0) {
      this.othersFrom = { occurredAt: last.occurredAt, seq: last.seq + 1 };
      return false;
    }
    this.othersFrom = null;
    if (this.others === 0) return false;
    this.sumUp();
    return true;
  }

  private add({ occurredAt, seq }: Order, value: number): void {
    this.take(value, 1);
    const { window } = this;
    if (window === null) return;
    window.insert(window.find(occurredAt, seq), occurredAt, seq, value);
    if (this.searches.length > 0) this.continueSearches(occurredAt, value);
  }

  /** An occurrence came: a search goes on where it is, if every sum that it has passed stays on its side of the change. */
  private continueSearches(occurredAt: number, value: number): void {
    this.searches = this.searches.filter((search) => {
      const stays = search.steady === "not falling" ? value >= 0 : search.steady === "not rising" && value <= 0;
      if (!stays || occurredAt <= search.instant) return false;
      search.rest.add(value);
      search.count++;
      search.isOpen = true;
      return true;
    });
  }

  private take(value: number, times: 1 | -1): void {
    this.sum.add(times * value);
    this.count += times;
    if (value > 0) this.positive += times;
    else if (value < 0) this.negative += times;
  }

  private clear(): void {
    this.window?.clear();
    this.othersFrom = null;
    this.sumUp();
  }

  /** Begins anew with the occurrences at hand. */
  private sumUp(): void {
    this.sum = new DecimalSum();
    this.count = this.positive = this.negative = this.others = 0;
    for (let i = 0; this.window !== null && i < this.window.length; i++) this.take(this.window.value(i), 1);
    this.searches = [];
    this.changed = true;
  }
}
