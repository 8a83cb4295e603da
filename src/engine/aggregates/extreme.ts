import type { EvaluationContext, WorkingAggregate } from "../evaluation-context.js";
import { type ScopedSelection, select } from "../selection.js";
import { eachOfHistory, isLater, justBefore } from "../state/history.js";
import type { ExtremeMemory, HistoryEvent, Order } from "../state/types.js";
import { Occurrences } from "./occurrences.js";
import { AggregateScope } from "./scope.js";
import { REMEMBERED_OF_WINDOW } from "./sum.js";

/**
 * The greatest value of a number property. Only occurrences that no later one reaches can ever be the greatest, since what is
 * earlier leaves first; so these alone are kept, and their values fall.
 *
 * For the least value, the selection reads numbers with their sign changed.
 */
export class ExtremeAggregate implements WorkingAggregate {
  readonly #candidates: Occurrences;
  readonly #scope: AggregateScope<number>;
  #othersFrom: ExtremeMemory["othersFrom"];
  #changed = false;

  constructor(
    private readonly selection: ScopedSelection<number>,
    private readonly origin: ExtremeMemory | null,
    candidates = new Occurrences(origin?.oldest),
    scope = new AggregateScope<number>(selection, origin?.scope ?? null),
  ) {
    this.#candidates = candidates;
    this.#scope = scope;
    this.#othersFrom = origin?.othersFrom ?? null;
  }

  clone(): ExtremeAggregate {
    const copy = new ExtremeAggregate(this.selection, this.origin, this.#candidates.clone(), this.#scope.clone());
    copy.#othersFrom = this.#othersFrom;
    copy.#changed = this.#changed;
    return copy;
  }

  record(customer: EvaluationContext, event: HistoryEvent): boolean {
    const value = select(this.selection, event);
    if (value === undefined) return false;
    this.#changed = true;
    this.#followBoundary(customer);
    const isLatest = this.#scope.note(event, value);
    if (!this.#scope.includes(customer, event)) return false;
    // What is not remembered is earlier and no greater: it can never be the greatest again.
    if (isLatest && this.#othersFrom !== null && value >= this.#othersFrom.value) this.#forgetOthers();
    this.#add(event, value);
    return true;
  }

  /** The greatest value at the customer's clock; undefined without one. */
  read(customer: EvaluationContext): number | undefined {
    this.#followBoundary(customer);
    this.#leave(customer);
    this.#readOthers(customer, 0);
    return this.#candidates.length === 0 ? undefined : this.#candidates.value(0);
  }

  /**
   * The earliest instant after the clock at which a reading of the greatest value changes by time alone, or Infinity.
   *
   * @param limits between two neighbouring ones of which, and outside them all, the reading is constant or strictly monotone
   */
  nextChange(
    customer: EvaluationContext,
    reading: (greatest: number | undefined) => unknown,
    limits: readonly number[],
  ): number {
    const { within } = this.selection;
    if (within === Infinity) return Infinity;
    const present = reading(this.read(customer));
    const candidates = this.#candidates;
    for (;;) {
      const known = this.#complete();
      const next = this.#placesOfChange(limits, known).find((place) => reading(candidates.value(place)) !== present);
      if (next !== undefined) return candidates.occurredAt(next - 1) + within;
      if (this.#othersFrom === null) break;
      this.#readOthers(customer, known);
    }
    const { length } = candidates;
    return length === 0 || reading(undefined) === present ? Infinity : candidates.occurredAt(length - 1) + within;
  }

  save(customer: EvaluationContext): ExtremeMemory {
    this.#followBoundary(customer);
    this.#leave(customer);
    if (!this.#changed && this.origin !== null) return this.origin;
    const kept = Math.min(this.#complete(), REMEMBERED_OF_WINDOW);
    return {
      kind: "extreme",
      oldest: this.#candidates.toMemory(kept),
      othersFrom: this.#othersAfter(kept),
      scope: this.#scope.toMemory(),
    };
  }

  /** The first candidate that is not remembered, with the greatest value of all such. */
  #othersAfter(kept: number): ExtremeMemory["othersFrom"] {
    const candidates = this.#candidates;
    const complete = this.#complete();
    if (kept < complete) return { ...candidates.order(kept), value: candidates.value(kept) };
    const from = this.#othersFrom;
    if (from === null || complete === candidates.length) return from;
    return { ...from, value: Math.max(from.value, candidates.value(complete)) };
  }

  #followBoundary(customer: EvaluationContext): void {
    this.#scope.follow(
      customer,
      () => {
        this.#candidates.clear();
        this.#forgetOthers();
      },
      (order, value) => this.#add(order, value),
    );
  }

  #forgetOthers(): void {
    this.#othersFrom = null;
    this.#changed = true;
  }

  /** Takes away what has left the window. */
  #leave(customer: EvaluationContext): void {
    const start = customer.clock - this.selection.within;
    if (this.#othersFrom !== null && this.#scope.hasLeft(customer)) this.#forgetOthers();
    while (this.#candidates.length > 0 && this.#candidates.occurredAt(0) <= start) {
      this.#candidates.removeFirst();
      this.#changed = true;
    }
  }

  /** How many candidates from the first on are followed by what is known, too. */
  #complete(): number {
    const from = this.#othersFrom;
    return from === null ? this.#candidates.length : this.#candidates.find(from.occurredAt, from.seq);
  }

  /** Makes sure that the candidate of a place is the right one: reads the others, if one of them may stand there. */
  #readOthers(customer: EvaluationContext, index: number): void {
    const from = this.#othersFrom;
    if (from === null || index < this.#complete()) return;
    const start = customer.clock - this.selection.within;
    this.#forgetOthers();
    eachOfHistory(customer, { event: this.selection.event, after: justBefore(from), until: null }, (event) => {
      const value = select(this.selection, event);
      if (value !== undefined && event.occurredAt > start) this.#add(event, value);
      return true;
    });
  }

  /**
   * The first so many candidates that may be the greatest with another reading when those before have left: the next one, and
   * those with which the values, which fall, reach or pass a limit. What occurred together leaves together.
   */
  #placesOfChange(limits: readonly number[], known: number): number[] {
    const candidates = this.#candidates;
    const places = [1, ...limits.flatMap((limit) => [this.#firstUpTo(limit, known), this.#firstBelow(limit, known)])];
    return places
      .filter((place) => place > 0 && place < known)
      .map((place) => {
        const isAlone = candidates.occurredAt(place - 1) !== candidates.occurredAt(place);
        return isAlone ? place : candidates.find(candidates.occurredAt(place), Infinity);
      })
      .filter((place) => place < known)
      .sort((a, b) => a - b);
  }

  #firstUpTo(limit: number, known: number): number {
    return firstWhere(known, (place) => this.#candidates.value(place) <= limit);
  }

  #firstBelow(limit: number, known: number): number {
    return firstWhere(known, (place) => this.#candidates.value(place) < limit);
  }

  #add({ occurredAt, seq }: Order, value: number): void {
    const candidates = this.#candidates;
    if (this.selection.within === Infinity) {
      // Nothing leaves, so the greatest is all there is to know.
      if (candidates.length > 0 && candidates.value(0) >= value) return;
      candidates.clear();
    }
    const from = this.#othersFrom;
    if (from !== null && value <= from.value && isLater(from.occurredAt, from.seq, { occurredAt, seq })) return;
    const at = candidates.find(occurredAt, seq);
    if (at < candidates.length && candidates.value(at) >= value) return;
    let first = at;
    while (first > 0 && candidates.value(first - 1) <= value) first--;
    candidates.remove(first, at - first);
    candidates.insert(first, occurredAt, seq, value);
  }
}

/** The first of so many places at which something holds that holds at all later ones; their number where it never does. */
function firstWhere(places: number, holds: (place: number) => boolean): number {
  let low = 0;
  let high = places;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}
