import { decimalsOf, type DecimalSum, POWERS, UNIQUE_UNITS, unitsOf } from "../decimal.js";
import type { OpenCustomer } from "../open-customer.js";
import { firstWhere } from "../state/history.js";
import type { HistoryEvent, MarginMemory, MarginsMemory } from "../state/types.js";

/** A limit of a region of numbers, and whether it belongs to the region. */
export interface Bound {
  limit: number;
  isIn: boolean;
}

/** Numbers that read alike, and no neighbour of which does; null where they have no end. */
export interface Region {
  low: Bound | null;
  high: Bound | null;
  /** How far beyond an end a number may read as within, because what it is read as is rounded; 0 unless given. */
  blur?: number;
}

/** By how much an event changes a number, at least and at most: in whole units, of which a one has so many as a power of ten says. */
export type Shift = readonly [least: number, most: number];

export const UNMOVED: Shift = [0, 0];

/** A number that events change by adding to it. */
export interface Addend {
  /** Undefined where it is absent. */
  exact: (customer: OpenCustomer) => DecimalSum | number | undefined;
  /** How an event changes it at every instant from the clock up to `until`; null where units of so many decimals do not tell. */
  shift: (customer: OpenCustomer, event: HistoryEvent, until: number, decimals: number) => Shift | null;
}

/** A number as one by another. Margins are known where that is above zero. */
export interface Quotient {
  dividend: Addend;
  /** Null stands for a one. */
  divisor: Addend | null;
  /** Whether it is rounded once, as if its parts were whole. */
  isRoundedOnce: boolean;
}

export function isUnmoved(shift: Shift | null): boolean {
  return shift !== null && shift[0] === 0 && shift[1] === 0;
}

/** How many lows of a margin are known in a call, and how many of them are remembered: enough for events that each pass several. */
const KNOWN_LOWS = 256;
export const REMEMBERED_LOWS = 32;

/**
 * How far a number is from one limit of its region, in units: at the instants ahead at which it is closer than at any before, of which the
 * last are known. Before the first of these lows it is `least` away or more.
 */
class Margin {
  /** To be added to all units. */
  private moved = 0;

  constructor(
    readonly isLow: boolean,
    readonly isIn: boolean,
    readonly limitUnits: number,
    public least = Infinity,
    private readonly instants: number[] = [],
    private readonly units: number[] = [],
  ) {}

  look(units: number, instant: number): void {
    const { length } = this.units;
    if (units >= (length === 0 ? this.least : this.at(length - 1))) return;
    this.units.push(units - this.moved);
    this.instants.push(instant);
    if (length >= KNOWN_LOWS) this.forgetFirst(1);
  }

  /** Forgets the instants up to the clock: what follows them is no closer than they were, until the next. */
  pass(clock: number): void {
    this.forgetFirst(firstWhere(this.instants.length, (place) => this.instants[place]! > clock));
  }

  /** Moves the number by the same at all instants, or by something between. */
  move([least, most]: Shift): void {
    if (least !== most) this.pass(Infinity);
    this.least += least;
    this.moved += least;
    if (Math.abs(this.moved) < UNIQUE_UNITS) return;
    for (let place = 0; place < this.units.length; place++) this.units[place] = this.at(place);
    this.moved = 0;
  }

  /** Forgets the instants from one on. */
  forgetFrom(instant: number): void {
    const kept = firstWhere(this.instants.length, (place) => this.instants[place]! >= instant);
    this.instants.length = this.units.length = kept;
  }

  isCrossed(units: number): boolean {
    return units < 0 || (units === 0 && !this.isIn);
  }

  /** The first instant at which the number is beyond the limit; Infinity where it never is. */
  crossing(): number {
    const { length } = this.units;
    const first = firstWhere(length, (place) => this.isCrossed(this.at(place)));
    return first === length ? Infinity : this.instants[first]!;
  }

  /** Whether the signs of all of them tell what doubles compare as. @param nothingTells whether that of nothing does */
  isTold(nothingTells: boolean): boolean {
    const { least } = this;
    const { length } = this.units;
    if (!isUnique(least) || (length > 0 && !(isUnique(this.at(0)) && isUnique(this.at(length - 1))))) return false;
    if (nothingTells) return true;
    const nothing = firstWhere(length, (place) => this.at(place) <= 0);
    return least !== 0 && (nothing === length || this.at(nothing) !== 0);
  }

  toMemory(): MarginMemory {
    const { isLow, isIn, limitUnits, instants } = this;
    const from = Math.max(0, instants.length - REMEMBERED_LOWS);
    const least = from === 0 ? this.least : this.at(from - 1);
    const units = this.units.slice(from).map((some) => some + this.moved);
    return { isLow, isIn, limitUnits, least: least === Infinity ? null : least, instants: instants.slice(from), units };
  }

  private at(place: number): number {
    return this.units[place]! + this.moved;
  }

  private forgetFirst(amount: number): void {
    if (amount === 0) return;
    this.least = this.at(amount - 1);
    this.instants.splice(0, amount);
    this.units.splice(0, amount);
  }
}

function isUnique(units: number): boolean {
  return units === Infinity || Math.abs(units) < UNIQUE_UNITS;
}

/** Decimals that sums often have: not all of a window shows in its sum. */
const USUAL_DECIMALS = 2;

/**
 * The margins of a number between the limits of its region, at the instants ahead that a search has looked at, if nothing comes. An event
 * that comes moves them all alike, so which of the instants is the first beyond a limit is known without looking at them again.
 *
 * As whole units: where the number is a / b, with a and b in units of so many decimals, and a limit L has `places` of them, the margin is
 * a * 10^places - L * 10^places * b. Its sign tells what the comparison of the two doubles a / b and L does, as long as it and L * b have
 * fewer than 10^15 units.
 */
export class Margins {
  private constructor(
    private readonly quotient: Quotient,
    private readonly decimals: number,
    private readonly places: number,
    private readonly blur: number,
    private readonly margins: readonly Margin[],
    /** The greatest divisor at any of the instants, in units. */
    private greatestDivisor = 0,
    /** Whether both parts have been whole numbers at all of them. */
    private isWhole = true,
  ) {}

  /** Before anything was looked at; null where doubles do not hold the units. */
  static begin(quotient: Quotient, { low, high, blur = 0 }: Region, customer: OpenCustomer): Margins | null {
    const needed = Math.max(
      ...[quotient.dividend, quotient.divisor].map((part) => decimalsOf(part?.exact(customer) ?? 1)),
    );
    const places = Math.max(...[low, high].map((bound) => decimalsOf(bound?.limit ?? 0)));
    const marginOf = (bound: Bound | null, isLow: boolean): Margin[] =>
      bound === null ? [] : [new Margin(isLow, bound.isIn, unitsOf(bound.limit, places) ?? NaN)];
    for (const decimals of [Math.max(USUAL_DECIMALS, needed), needed]) {
      if (decimals + places > 15) continue;
      const margins = new Margins(quotient, decimals, places, blur, [...marginOf(low, true), ...marginOf(high, false)]);
      if (margins.unitsAt(customer) !== null) return margins;
    }
    return null;
  }

  static from(quotient: Quotient, memory: MarginsMemory): Margins {
    const { decimals, places, blur, margins, greatestDivisor, isWhole } = memory;
    const opened = margins.map(({ isLow, isIn, limitUnits, least, instants, units }) => {
      return new Margin(isLow, isIn, limitUnits, least ?? Infinity, instants.slice(), units.slice());
    });
    return new Margins(quotient, decimals, places, blur, opened, greatestDivisor, isWhole);
  }

  /** Looks at the number as it is at the customer's clock, and tells whether that is within the region, for sure. */
  look(customer: OpenCustomer): boolean {
    const parts = this.unitsAt(customer);
    if (parts === null) return false;
    const units = this.margins.map((margin) => this.unitsFrom(margin, parts.dividend, parts.divisor));
    const [greatestDivisor, isWhole] = [Math.max(this.greatestDivisor, parts.divisor), this.isWhole && parts.isWhole];
    const nothingTells = this.nothingTells(isWhole);
    const isWithin = this.margins.every((margin, i) => {
      return !margin.isCrossed(units[i]!) && isUnique(units[i]!) && (nothingTells || units[i] !== 0);
    });
    if (!isWithin || !this.isFine(greatestDivisor)) return false;
    this.margins.forEach((margin, i) => margin.look(units[i]!, customer.clock));
    this.greatestDivisor = greatestDivisor;
    this.isWhole = isWhole;
    return true;
  }

  /** Takes in what an event does at all instants looked at, which are before `until`, and tells whether it is known of all of them. */
  move(customer: OpenCustomer, event: HistoryEvent, until: number): boolean {
    const { quotient, decimals, one } = this;
    const dividend = quotient.dividend.shift(customer, event, until, decimals);
    const divisor = quotient.divisor === null ? UNMOVED : quotient.divisor.shift(customer, event, until, decimals);
    if (dividend === null || divisor === null || divisor[0] < 0) return false;
    for (const margin of this.margins) margin.move(this.shiftOf(margin, dividend, divisor));
    this.greatestDivisor += divisor[1];
    this.isWhole &&= [dividend, divisor].every(([least, most]) => least % one === 0 && most % one === 0);
    return this.isKnown();
  }

  /** Whether it is known of all instants from the clock on that were looked at whether the number is within the region. */
  holds(clock: number): boolean {
    for (const margin of this.margins) margin.pass(clock);
    return this.isKnown();
  }

  /** Has the instants from one on not looked at. */
  forgetFrom(instant: number): void {
    for (const margin of this.margins) margin.forgetFrom(instant);
  }

  /** The first of these at which it is not; Infinity where it always is. */
  crossing(): number {
    return Math.min(...this.margins.map((margin) => margin.crossing()));
  }

  toMemory(): MarginsMemory {
    const { decimals, places, blur, greatestDivisor, isWhole } = this;
    const margins = this.margins.map((margin) => margin.toMemory());
    return { decimals, places, blur, margins, greatestDivisor, isWhole };
  }

  private get one(): number {
    return POWERS[this.decimals]!;
  }

  /** Dividend and divisor at the customer's clock; null where units do not tell them. */
  private unitsAt(customer: OpenCustomer) {
    const { quotient } = this;
    const dividend = this.unitsOf(quotient.dividend, customer);
    const divisor = quotient.divisor === null ? this.one : this.unitsOf(quotient.divisor, customer);
    if (dividend === null || divisor === null || divisor <= 0) return null;
    return { dividend, divisor, isWhole: dividend % this.one === 0 && divisor % this.one === 0 };
  }

  private unitsOf({ exact }: Addend, customer: OpenCustomer): number | null {
    const value = exact(customer);
    return value === undefined ? null : unitsOf(value, this.decimals);
  }

  private unitsFrom({ isLow, limitUnits }: Margin, dividend: number, divisor: number): number {
    const units = dividend * POWERS[this.places]! - limitUnits * divisor;
    return (isLow ? units : -units) + 0;
  }

  private shiftOf({ isLow, limitUnits }: Margin, dividend: Shift, divisor: Shift): Shift {
    const power = POWERS[this.places]!;
    const [one, other] = [limitUnits * divisor[0], limitUnits * divisor[1]];
    const least = dividend[0] * power - Math.max(one, other);
    const most = dividend[1] * power - Math.min(one, other);
    return isLow ? [least, most] : [-most, -least];
  }

  private isKnown(): boolean {
    const nothingTells = this.nothingTells(this.isWhole);
    const isTold = this.margins.every((margin) => !margin.isCrossed(margin.least) && margin.isTold(nothingTells));
    return isTold && this.isFine(this.greatestDivisor);
  }

  /** Of what is rounded more than once, a margin of nothing does not tell what the doubles compare as. */
  private nothingTells(isWhole: boolean): boolean {
    return this.quotient.isRoundedOnce || isWhole;
  }

  /** Whether a unit makes a difference where the divisor is so great. */
  private isFine(divisor: number): boolean {
    const isUnique = this.margins.every(({ limitUnits }) => Math.abs(limitUnits) * divisor < UNIQUE_UNITS);
    return isUnique && this.blur * divisor * POWERS[this.places]! <= 1;
  }
}
