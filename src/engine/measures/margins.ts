import { decimalsOf, type DecimalSum, POWERS, UNIQUE_UNITS, unitsOf } from "../decimal.js";
import type { OpenCustomer } from "../open-customer.js";
import { firstWhere } from "../state/history.js";
import type { HistoryEvent, MarginMemory, MarginsMemory } from "../state/types.js";

/** A limit of a region of numbers, and whether it belongs to the region. */
export interface Bound {
  limit: number;
  isIn: boolean;
}

/** A maximal range of numbers with the same reading; a null bound is unlimited. */
export interface Region {
  low: Bound | null;
  high: Bound | null;
  /** How far beyond a bound a number may still have the same reading, because readings are rounded; 0 unless given. */
  blur?: number;
}

/** By how much an event changes a number, at least and at most, in whole units of 10^-decimals. */
export type Shift = readonly [least: number, most: number];

export const UNMOVED: Shift = [0, 0];

/** A number that events change by adding to it. */
export interface Addend {
  /** Undefined if absent. */
  exact: (customer: OpenCustomer) => DecimalSum | number | undefined;
  /** How an event changes it at every instant from the clock up to `until`; null if units of 10^-decimals cannot express that. */
  shift: (customer: OpenCustomer, event: HistoryEvent, until: number, decimals: number) => Shift | null;
}

/** A number as a quotient. Margins are known only while the divisor is above zero. */
export interface Quotient {
  dividend: Addend;
  /** Null stands for 1. */
  divisor: Addend | null;
  /** Whether only the result is rounded to a double, not also its parts. */
  isRoundedOnce: boolean;
}

export function isUnmoved(shift: Shift | null): boolean {
  return shift !== null && shift[0] === 0 && shift[1] === 0;
}

/** How many lows of a margin are held during a call, and how many of them are stored: enough for events that each pass several. */
const KNOWN_LOWS = 256;
export const REMEMBERED_LOWS = 32;

/**
 * How far a number is from one limit of its region, in units, at its lows: the future instants at which it is closer than at any earlier
 * one. Only the last lows are held; before the first of them the distance is at least `least`.
 */
class Margin {
  /** An offset to add to all `units`. */
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

  /** Forgets the lows up to the clock: until the next low, the number is no closer than it was at the last of them. */
  pass(clock: number): void {
    this.forgetFirst(firstWhere(this.instants.length, (index) => this.instants[index]! > clock));
  }

  /** Moves the number by the same amount at all instants, or by unknown amounts between `least` and `most`. */
  move([least, most]: Shift): void {
    if (least !== most) this.pass(Infinity);
    this.least += least;
    this.moved += least;
    if (Math.abs(this.moved) < UNIQUE_UNITS) return;
    for (let i = 0; i < this.units.length; i++) this.units[i] = this.at(i);
    this.moved = 0;
  }

  /** Forgets the lows at and after an instant. */
  forgetFrom(instant: number): void {
    const kept = firstWhere(this.instants.length, (index) => this.instants[index]! >= instant);
    this.instants.length = this.units.length = kept;
  }

  isCrossed(units: number): boolean {
    return units < 0 || (units === 0 && !this.isIn);
  }

  /** The first instant at which the number is beyond the limit; Infinity if it never is. */
  crossing(): number {
    const { length } = this.units;
    const first = firstWhere(length, (index) => this.isCrossed(this.at(index)));
    return first === length ? Infinity : this.instants[first]!;
  }

  /** Whether the signs of all margins agree with the comparison of doubles. @param zeroIsDecisive whether that also holds for a margin of zero */
  isDecisive(zeroIsDecisive: boolean): boolean {
    const { least } = this;
    const { length } = this.units;
    if (!isUnique(least) || (length > 0 && !(isUnique(this.at(0)) && isUnique(this.at(length - 1))))) return false;
    if (zeroIsDecisive) return true;
    const zero = firstWhere(length, (index) => this.at(index) <= 0);
    return least !== 0 && (zero === length || this.at(zero) !== 0);
  }

  toMemory(): MarginMemory {
    const { isLow, isIn, limitUnits, instants } = this;
    const from = Math.max(0, instants.length - REMEMBERED_LOWS);
    const least = from === 0 ? this.least : this.at(from - 1);
    const units = this.units.slice(from).map((one) => one + this.moved);
    return { isLow, isIn, limitUnits, least: least === Infinity ? null : least, instants: instants.slice(from), units };
  }

  private at(index: number): number {
    return this.units[index]! + this.moved;
  }

  private forgetFirst(count: number): void {
    if (count === 0) return;
    this.least = this.at(count - 1);
    this.instants.splice(0, count);
    this.units.splice(0, count);
  }
}

function isUnique(units: number): boolean {
  return units === Infinity || Math.abs(units) < UNIQUE_UNITS;
}

/** Decimals that sums usually need: a sum may have fewer than its addends. */
const USUAL_DECIMALS = 2;

/**
 * The margins of a number to the limits of its region, at the future instants that a search has visited, if no event comes. An event shifts
 * all of them alike, so the first instant beyond a limit is known without visiting them again.
 *
 * In whole units: if the number is a / b, with a and b in units of 10^-decimals, and a limit L has `places` decimals, the margin is
 * a * 10^places - L * 10^places * b. Its sign agrees with the comparison of the two doubles a / b and L as long as it and L * b have fewer
 * than 10^15 units.
 */
export class Margins {
  private constructor(
    private readonly quotient: Quotient,
    private readonly decimals: number,
    private readonly places: number,
    private readonly blur: number,
    private readonly margins: readonly Margin[],
    /** The greatest divisor at any visited instant, in units. */
    private greatestDivisor = 0,
    /** Whether both parts are whole numbers at all visited instants. */
    private isWhole = true,
  ) {}

  /** Margins without a visited instant; null if doubles cannot hold the units. */
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

  /** Notes the number at the customer's clock. Returns whether it is certainly inside the region; otherwise nothing is noted. */
  look(customer: OpenCustomer): boolean {
    const parts = this.unitsAt(customer);
    if (parts === null) return false;
    const units = this.margins.map((margin) => this.unitsFrom(margin, parts.dividend, parts.divisor));
    const [greatestDivisor, isWhole] = [Math.max(this.greatestDivisor, parts.divisor), this.isWhole && parts.isWhole];
    const zeroIsDecisive = this.zeroIsDecisive(isWhole);
    const isWithin = this.margins.every((margin, i) => {
      return !margin.isCrossed(units[i]!) && isUnique(units[i]!) && (zeroIsDecisive || units[i] !== 0);
    });
    if (!isWithin || !this.isPrecise(greatestDivisor)) return false;
    this.margins.forEach((margin, i) => margin.look(units[i]!, customer.clock));
    this.greatestDivisor = greatestDivisor;
    this.isWhole = isWhole;
    return true;
  }

  /** Shifts the margins by an event, at all visited instants, which are before `until`. Returns whether they are still known at all of them. */
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

  /** Whether it is known for all visited instants from the clock on whether the number is inside the region. */
  holds(clock: number): boolean {
    for (const margin of this.margins) margin.pass(clock);
    return this.isKnown();
  }

  /** Forgets the visited instants from one on. */
  forgetFrom(instant: number): void {
    for (const margin of this.margins) margin.forgetFrom(instant);
  }

  /** The first visited instant at which the number is outside the region; Infinity if there is none. */
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

  /** Dividend and divisor at the customer's clock; null if they cannot be expressed in units. */
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
    const zeroIsDecisive = this.zeroIsDecisive(this.isWhole);
    const isDecisive = this.margins.every((margin) => {
      return !margin.isCrossed(margin.least) && margin.isDecisive(zeroIsDecisive);
    });
    return isDecisive && this.isPrecise(this.greatestDivisor);
  }

  /** Whether a margin of zero means that the doubles are equal. It does not if the number is rounded more than once. */
  private zeroIsDecisive(isWhole: boolean): boolean {
    return this.quotient.isRoundedOnce || isWhole;
  }

  /** Whether margins are exact with such a divisor: the products fit into doubles, and the blur is at most one unit. */
  private isPrecise(divisor: number): boolean {
    const isUnique = this.margins.every(({ limitUnits }) => Math.abs(limitUnits) * divisor < UNIQUE_UNITS);
    return isUnique && this.blur * divisor * POWERS[this.places]! <= 1;
  }
}
