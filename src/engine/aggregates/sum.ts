import { DecimalSum } from "../decimal.js";
import type { EvaluationContext, WorkingAggregate } from "../evaluation-context.js";
import { type ScopedSelection, select } from "../selection.js";
import { justBefore, readHistory } from "../state/history.js";
import type { HistoryEvent, Order, SumMemory } from "../state/types.js";
import { Occurrences } from "./occurrences.js";
import { AggregateScope } from "./scope.js";

/** How many of the oldest occurrences of a window are remembered; the others are read when these have left. */
export const REMEMBERED_OF_WINDOW = 32;

/** What is asked of a sum: any function of it and of how many numbers it is the sum of. */
export type SumReading<V> = (sum: number, count: number) => V;

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
  #sum = new DecimalSum();
  #count = 0;
  #positive = 0;
  #negative = 0;
  #scope: AggregateScope<number> | null = null;
  /** The occurrences in the window. Of those from `#othersFrom` on, only the ones of this call; `#others` more are not here. */
  #window: Occurrences | null = null;
  #others = 0;
  #othersFrom: Order | null = null;
  #searches: Search[] = [];
  #changed = false;

  constructor(
    private readonly selection: ScopedSelection<number>,
    private readonly origin: SumMemory | null,
  ) {
    const isWindow = selection.within !== Infinity;
    if (isWindow || selection.boundary !== undefined)
      this.#scope = new AggregateScope(selection, origin?.scope ?? null);
    if (isWindow) this.#window = new Occurrences(origin?.window?.oldest);
    if (origin === null) return;
    this.#sum = DecimalSum.from(origin.sum);
    this.#count = origin.count;
    this.#positive = origin.positive;
    this.#negative = origin.negative;
    this.#others = origin.window?.others ?? 0;
    this.#othersFrom = origin.window?.othersFrom ?? null;
  }

  clone(): SumAggregate {
    const copy = new SumAggregate(this.selection, this.origin);
    copy.#sum = this.#sum.clone();
    copy.#count = this.#count;
    copy.#positive = this.#positive;
    copy.#negative = this.#negative;
    copy.#scope = this.#scope?.clone() ?? null;
    copy.#window = this.#window?.clone() ?? null;
    copy.#others = this.#others;
    copy.#othersFrom = this.#othersFrom;
    copy.#changed = this.#changed;
    return copy;
  }

  record(customer: EvaluationContext, event: HistoryEvent): boolean {
    const value = select(this.selection, event);
    if (value === undefined) return false;
    const scope = this.#scope;
    this.#changed = true;
    if (scope !== null) {
      this.#followBoundary(customer, scope);
      scope.note(event, value);
      if (!scope.includes(customer, event)) return false;
    }
    this.#add(event, value);
    return true;
  }

  /** Some reading of the sum at the customer's clock. */
  read<V>(customer: EvaluationContext, reading: SumReading<V>): V {
    this.#advance(customer);
    return reading(this.#sum.toNumber(), this.#count);
  }

  /**
   * The earliest instant after the clock at which a reading changes by time alone, or Infinity.
   *
   * @param steadyAs tells that the reading stays what it is as long as the sum does not rise, or does not fall
   * @throws {HistoryNeeded} if that lies beyond the occurrences at hand
   */
  nextChange<V>(
    customer: EvaluationContext,
    reading: SumReading<V>,
    steadyAs?: (value: V) => "not rising" | "not falling",
  ): number {
    if (this.#window === null) return Infinity;
    this.#advance(customer);
    const present = reading(this.#sum.toNumber(), this.#count);
    const steady = steadyAs?.(present);
    // What leaves takes its value along: where no number is below zero, the sum does not rise.
    if (steady === "not rising" && this.#negative === 0) return Infinity;
    if (steady === "not falling" && this.#positive === 0) return Infinity;
    const search = this.#search(customer, reading, present, steady);
    if (!search.isOpen) return search.at;
    search.isOpen = false;
    search.at = this.#findChange(customer, this.#window, search);
    return search.at;
  }

  save(customer: EvaluationContext): SumMemory {
    const scope = this.#scope;
    if (scope !== null) {
      this.#followBoundary(customer, scope);
      if (!this.#needsHistory(customer, scope)) this.#leave(customer, scope);
    }
    if (!this.#changed && this.origin !== null) return this.origin;
    return {
      kind: "sum",
      sum: this.#sum.toMemory(),
      count: this.#count,
      positive: this.#positive,
      negative: this.#negative,
      scope: scope?.toMemory() ?? null,
      window: this.#window === null ? null : this.#saveWindow(this.#window),
    };
  }

  #saveWindow(window: Occurrences): SumMemory["window"] {
    const from = this.#othersFrom;
    const complete = from === null ? window.length : window.find(from.occurredAt, from.seq);
    const kept = Math.min(complete, REMEMBERED_OF_WINDOW);
    const cut = window.length - kept;
    return {
      oldest: window.toMemory(kept),
      others: this.#others + cut,
      othersFrom: cut > 0 && kept < complete ? window.order(kept) : from,
    };
  }

  #advance(customer: EvaluationContext): void {
    const scope = this.#scope;
    if (scope === null) return;
    this.#followBoundary(customer, scope);
    if (this.#window === null) return;
    while (this.#needsHistory(customer, scope)) this.#readPage(customer, this.#window);
    this.#leave(customer, scope);
  }

  #followBoundary(customer: EvaluationContext, scope: AggregateScope<number>): void {
    scope.follow(
      customer,
      () => this.#clear(),
      (order, value) => this.#add(order, value),
    );
  }

  /** Whether something that is not at hand may have left the window. */
  #needsHistory(customer: EvaluationContext, scope: AggregateScope<number>): boolean {
    const from = this.#othersFrom;
    return from !== null && from.occurredAt <= customer.clock - this.selection.within && !scope.hasLeft(customer);
  }

  /** Takes away what has left the window. */
  #leave(customer: EvaluationContext, scope: AggregateScope<number>): void {
    const window = this.#window;
    if (window === null || this.#count === 0) return;
    if (scope.hasLeft(customer)) return this.#clear();
    const start = customer.clock - this.selection.within;
    while (window.length > 0 && window.occurredAt(0) <= start) {
      this.#take(window.value(0), -1);
      window.removeFirst();
      this.#changed = true;
    }
  }

  /** The search for the change of a reading: the former one, if what was added since cannot have brought the change forward. */
  #search(
    customer: EvaluationContext,
    reading: SumReading<unknown>,
    present: unknown,
    steady: Search["steady"],
  ): Search {
    const at = this.#searches.findIndex((search) => search.reading === reading);
    const former = this.#searches[at];
    if (former !== undefined && former.present === present) {
      const isAhead = former.isOpen ? former.instant + this.selection.within : former.at;
      if (isAhead > customer.clock) return former;
    }
    const rest = this.#sum.clone();
    const search = {
      reading,
      present,
      steady,
      rest,
      count: this.#count,
      instant: -Infinity,
      isOpen: true,
      at: Infinity,
    };
    if (former === undefined) this.#searches.push(search);
    else this.#searches[at] = search;
    return search;
  }

  /** Takes away what leaves, instant by instant, until the reading is another one. */
  #findChange(customer: EvaluationContext, window: Occurrences, search: Search): number {
    const { within } = this.selection;
    const { rest, reading } = search;
    const hasChanged = (): boolean =>
      search.instant !== -Infinity && reading(rest.toNumber(), search.count) !== search.present;
    let i = window.find(search.instant, Infinity);
    while (search.count > 0) {
      const isAtHand = this.#isAtHand(window, i);
      const next = isAtHand ? window.occurredAt(i) : this.#othersFrom!.occurredAt;
      // What occurred together leaves together.
      if (next > search.instant && hasChanged()) return search.instant + within;
      if (isAtHand) {
        search.instant = next;
        rest.subtract(window.value(i));
        search.count--;
        i++;
      } else if (this.#readPage(customer, window)) {
        // The history has lost something, and the sum has become another one.
        return this.nextChange(customer, reading);
      }
    }
    return hasChanged() ? search.instant + within : Infinity;
  }

  /** Whether the occurrence at a place of the window is the next one, and not one that is still to be read. */
  #isAtHand(window: Occurrences, index: number): boolean {
    const from = this.#othersFrom;
    if (from === null) return index < window.length;
    return index < window.find(from.occurredAt, from.seq);
  }

  /** Reads some more of the window from history; true where the history has lost some of it, which is then given up. */
  #readPage(customer: EvaluationContext, window: Occurrences): boolean {
    const from = this.#othersFrom!;
    const { events, complete } = readHistory(customer, {
      event: this.selection.event,
      after: justBefore(from),
      until: null,
    });
    for (const event of events) {
      const value = select(this.selection, event);
      if (value === undefined) continue;
      window.insert(window.find(event.occurredAt, event.seq), event.occurredAt, event.seq, value);
      this.#others--;
    }
    const last = events.at(-1);
    if (last !== undefined && !complete && this.#others > 0) {
      this.#othersFrom = { occurredAt: last.occurredAt, seq: last.seq + 1 };
      return false;
    }
    this.#othersFrom = null;
    if (this.#others === 0) return false;
    this.#others = 0;
    this.#sumUp(window);
    return true;
  }

  #sumUp(window: Occurrences): void {
    this.#sum = new DecimalSum();
    this.#count = this.#positive = this.#negative = 0;
    for (let i = 0; i < window.length; i++) this.#take(window.value(i), 1);
    this.#searches = [];
    this.#changed = true;
  }

  #add({ occurredAt, seq }: Order, value: number): void {
    this.#take(value, 1);
    if (this.#window === null) return;
    this.#window.insert(this.#window.find(occurredAt, seq), occurredAt, seq, value);
    if (this.#searches.length > 0) this.#continueSearches(occurredAt, value);
  }

  /** An occurrence came: a search goes on where it is, if every sum that it has passed stays on its side of the change. */
  #continueSearches(occurredAt: number, value: number): void {
    this.#searches = this.#searches.filter((search) => {
      const stays = search.steady === "not falling" ? value >= 0 : search.steady === "not rising" && value <= 0;
      if (!stays || occurredAt <= search.instant) return false;
      search.rest.add(value);
      search.count++;
      search.isOpen = true;
      return true;
    });
  }

  #take(value: number, times: 1 | -1): void {
    if (times === 1) this.#sum.add(value);
    else this.#sum.subtract(value);
    this.#count += times;
    if (value > 0) this.#positive += times;
    else if (value < 0) this.#negative += times;
  }

  #clear(): void {
    this.#sum = new DecimalSum();
    this.#count = this.#positive = this.#negative = this.#others = 0;
    this.#window?.clear();
    this.#othersFrom = null;
    this.#searches = [];
    this.#changed = true;
  }
}
