import fc from "fast-check";
import { describe, expect, it } from "vitest";

import { DecimalSum } from "../../src/engine/decimal.js";

const finite = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.integer().map((cents) => cents / 100),
  fc.integer(),
  fc.maxSafeInteger(),
  fc.constantFrom(0.1, 0.2, 1 / 3, 1e308, -1e308, 5e-324, 1e15, 1e15 + 0.5, 123456789012345.6),
);

/** Units of 10^-1100: every finite double is a whole number of them. */
const SCALE = 1_100;

function unitsOf(value: number): bigint {
  const [mantissa, exponent = "0"] = String(value).split("e") as [string, string?];
  const [whole, fraction = ""] = mantissa.split(".") as [string, string?];
  return BigInt(whole + fraction) * 10n ** BigInt(SCALE + Number(exponent) - fraction.length);
}

function sumOf(values: readonly number[]): DecimalSum {
  const sum = new DecimalSum();
  for (const value of values) sum.add(value);
  return sum;
}

describe("a decimal sum", () => {
  it("is the sum of the numbers in decimal notation, rounded once and limited to the range of doubles", () => {
    fc.assert(
      fc.property(fc.array(finite), (values) => {
        const exact = values.map(unitsOf).reduce((total, units) => total + units, 0n);
        const rounded = Number(`${exact}e-${SCALE}`);
        // JSON has no infinity.
        const shown = Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, rounded));
        expect(sumOf(values).toNumber()).toBe(shown);
      }),
    );
  });

  it("divides just as exactly: the average of one repeated number is that number", () => {
    expect(sumOf([4.1, 4.1, 4.1]).average(3)).toBe(4.1);
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, min: -1e300, max: 1e300 }),
        fc.integer({ min: 1, max: 200 }),
        (value, count) => {
          expect(sumOf(Array<number>(count).fill(value)).average(count)).toBe(value + 0);
        },
      ),
    );
  });

  it("depends neither on the order of addition nor on values that were subtracted again", () => {
    fc.assert(
      fc.property(fc.array(finite), fc.array(finite), (values, removed) => {
        const sum = sumOf([...removed, ...values]);
        for (const value of removed) sum.subtract(value);
        expect(sum.toMemory()).toEqual(sumOf(values.slice().reverse()).toMemory());
      }),
    );
  });

  it("survives a round trip through JSON", () => {
    fc.assert(
      fc.property(fc.array(finite), finite, (values, another) => {
        const sum = sumOf(values);
        const stored = DecimalSum.from(JSON.parse(JSON.stringify(sum.toMemory())));
        stored.add(another);
        sum.add(another);
        expect(stored.toNumber()).toBe(sum.toNumber());
        expect(stored.toMemory()).toEqual(sum.toMemory());
      }),
    );
  });
});
