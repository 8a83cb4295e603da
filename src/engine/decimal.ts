import type { DecimalMemory } from "./state/types.js";

/** Whole powers of ten that a double holds exactly. */
export const POWERS = Array.from({ length: 23 }, (_, exponent) => 10 ** exponent);

/** Below this, a double has at most one decimal of so many digits: the one that its shortest text shows. */
export const UNIQUE_UNITS = 1e15;

/** Digits of a quotient beyond its units: more than decide which double is the nearest. */
const GUARD_DIGITS = 30n;

/**
 * An exact sum of doubles, each read as the decimal number that its shortest text shows, so that 0.1 + 0.2 is 0.3. What
 * was added can be taken away again without a trace, in any order.
 *
 * Sums whose units fit a safe integer are kept as a number; all others as a big integer.
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

  /** Takes another sum away. */
  subtractSum(other: DecimalSum): void {
    if (this.#big === null && other.#big === null && this.#scale === other.#scale) {
      const rest = this.#units - other.#units;
      if (Number.isSafeInteger(rest)) {
        this.#units = rest;
        return;
      }
    }
    this.#addDecimal(-(other.#big ?? BigInt(other.#units)), other.#scale);
  }

  /** The sum, rounded once to the nearest double; beyond their range the greatest one, since JSON has no infinity. */
  toNumber(): number {
    return this.#big === null ? this.#units / POWERS[this.#scale]! : this.average(1);
  }

  /** The sum in whole units of so many decimals; null where it has more of them, or too many units. */
  unitsAt(decimals: number): number | null {
    if (this.#scale > decimals) this.#shorten();
    if (this.#big !== null || this.#scale > decimals) return null;
    const units = this.#units * POWERS[decimals - this.#scale]!;
    return Math.abs(units) < UNIQUE_UNITS ? units : null;
  }

  /** The sum divided by how many numbers it is the sum of, rounded once as the sum is: three times 4.1 are 4.1 on average. */
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

  /** Drops zeros at the end, so that the sum does not show what was once in it. */
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

/** How many decimals a number has. */
export function decimalsOf(value: DecimalSum | number): number {
  if (typeof value === "object") return value.toMemory().scale;
  return Number.isInteger(value) ? 0 : readDecimal(value).scale;
}

/** A number in whole units of so many decimals; null where it has more of them, or 10^15 units. */
export function unitsOf(value: DecimalSum | number, decimals: number): number | null {
  if (typeof value === "object") return value.unitsAt(decimals);
  const power = POWERS[decimals]!;
  const units = Math.round(value * power);
  // The quotient is correctly rounded: where it is the value itself, the units are those of its shortest text.
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
