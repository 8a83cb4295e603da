import type { DecimalMemory } from "./state/types.js";

/** Whole powers of ten that a double holds exactly. */
export const POWERS = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);

/** Decimals with fewer units than this (at most 15 digits) are told apart by doubles: the shortest text of the double shows the decimal. */
export const UNIQUE_UNITS = 1e15;

/** Digits of a quotient beyond its units: more than are needed to find the nearest double. */
const GUARD_DIGITS = 30n;

/**
 * An exact sum of doubles, each read as the decimal number that its shortest text shows, so that 0.1 + 0.2 is 0.3. Addends can
 * be subtracted again without a trace, in any order.
 *
 * Sums whose units fit a safe integer are held as a number; all others as a big integer.
 */
export class DecimalSum {
  #units = 0;
  #big: bigint | null = null;
  #scale = 0;

  static from({ units, scale }: DecimalMemory): DecimalSum {
    const sum = new DecimalSum();
    sum.#scale = scale;
    if (typeof units === "number") sum.#units = units;
    else sum.#big = BigInt(units);
    return sum;
  }

  clone(): DecimalSum {
    const copy = new DecimalSum();
    copy.#units = this.#units;
    copy.#big = this.#big;
    copy.#scale = this.#scale;
    return copy;
  }

  /** @param value a finite number */
  add(value: number): void {
    if (this.#big === null) {
      const units = unitsOf(value, this.#scale);
      if (units !== null) {
        const sum = this.#units + units;
        if (Number.isSafeInteger(sum)) {
          this.#units = sum;
          return;
        }
      }
    }
    this.#addExactly(value);
  }

  subtract(value: number): void {
    this.add(-value);
  }

  subtractSum(other: DecimalSum): void {
    if (this.#big === null && other.#big === null && this.#scale === other.#scale) {
      const difference = this.#units - other.#units;
      if (Number.isSafeInteger(difference)) {
        this.#units = difference;
        return;
      }
    }
    this.#addDecimal(-(other.#big ?? BigInt(other.#units)), other.#scale);
  }

  /** The sum, rounded once to the nearest double; beyond the range of doubles the greatest one, since JSON has no infinity. */
  toNumber(): number {
    return this.#big === null ? this.#units / POWERS[this.#scale]! : this.average(1);
  }

  /** The sum in whole units of 10^-decimals; null if it has more decimals, or 10^15 units or more. */
  unitsAt(decimals: number): number | null {
    if (this.#scale > decimals) this.#shorten();
    if (this.#big !== null || this.#scale > decimals) return null;
    const units = this.#units * POWERS[decimals - this.#scale]!;
    return Math.abs(units) < UNIQUE_UNITS ? units : null;
  }

  /** The sum divided by a count, rounded once, as `toNumber` is: the average of three times 4.1 is 4.1. */
  average(count: number): number {
    const divisor = (POWERS[this.#scale] ?? Infinity) * count;
    if (this.#big === null && Number.isSafeInteger(divisor)) return this.#units / divisor;
    const units = ((this.#big ?? BigInt(this.#units)) * 10n ** GUARD_DIGITS) / BigInt(count);
    const rounded = Number(`${units}e${-(this.#scale + Number(GUARD_DIGITS))}`);
    return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, rounded));
  }

  toMemory(): DecimalMemory {
    this.#shorten();
    return { units: this.#big === null ? this.#units : this.#big.toString(), scale: this.#scale };
  }

  #addExactly(value: number): void {
    const { units, scale } = readDecimal(value);
    this.#addDecimal(units, scale);
  }

  #addDecimal(addend: bigint, scaleOfAddend: number): void {
    const scale = Math.max(this.#scale, scaleOfAddend);
    const units = this.#big ?? BigInt(this.#units);
    this.#big = units * 10n ** BigInt(scale - this.#scale) + addend * 10n ** BigInt(scale - scaleOfAddend);
    this.#scale = scale;
    this.#preferNumber();
  }

  /** Drops trailing zeros, so that equal sums are stored equally, whatever was once added. */
  #shorten(): void {
    while (this.#scale > 0 && (this.#big === null ? this.#units % 10 === 0 : this.#big % 10n === 0n)) {
      if (this.#big === null) this.#units /= 10;
      else this.#big /= 10n;
      this.#scale--;
    }
    if (this.#big !== null) this.#preferNumber();
  }

  #preferNumber(): void {
    const units = Number(this.#big);
    if (this.#scale >= POWERS.length || !Number.isSafeInteger(units)) return;
    this.#units = units;
    this.#big = null;
  }
}

/** The number of decimals of a number. */
export function decimalsOf(value: DecimalSum | number): number {
  if (typeof value === "object") return value.toMemory().scale;
  return Number.isInteger(value) ? 0 : readDecimal(value).scale;
}

/** A number in whole units of 10^-decimals; null if it has more decimals, or 10^15 units or more. */
export function unitsOf(value: DecimalSum | number, decimals: number): number | null {
  if (typeof value === "object") return value.unitsAt(decimals);
  const power = POWERS[decimals]!;
  const units = Math.round(value * power);
  // The quotient is correctly rounded: if it equals the value, the units are those of the value's shortest text.
  return units / power === value && Math.abs(units) < UNIQUE_UNITS ? units : null;
}

const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]\d+))?$/;

/** The decimal that a number's shortest text shows. */
function readDecimal(value: number): { units: bigint; scale: number } {
  const [, sign, whole, fraction = "", exponent = "0"] = DECIMAL.exec(String(value))!;
  const units = BigInt(`${sign}${whole}${fraction}`);
  const scale = fraction.length - Number(exponent);
  return scale >= 0 ? { units, scale } : { units: units * 10n ** BigInt(-scale), scale: 0 };
}
