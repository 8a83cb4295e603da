import { describe, expect, test } from "vitest";
import { Random } from "../../../src/demo/simulate/random.js";

const draws = (random: Random, count: number) => Array.from({ length: count }, () => random.unit());

describe("a stream of random numbers", () => {
  test("gives the same draws for the same seed and labels, and different ones for others", () => {
    expect(draws(new Random(1, "days", 3), 20)).toEqual(draws(new Random(1, "days", 3), 20));
    expect(draws(new Random(1, "days", 4), 20)).not.toEqual(draws(new Random(1, "days", 3), 20));
    expect(draws(new Random(2, "days", 3), 20)).not.toEqual(draws(new Random(1, "days", 3), 20));
  });

  test("spreads its draws evenly", () => {
    const tenths = Array<number>(10).fill(0);
    for (const draw of draws(new Random(5), 100_000)) tenths[Math.floor(draw * 10)]!++;
    for (const count of tenths) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  });

  test("differs from its neighbours: streams that differ in one digit do not correlate", () => {
    const pairs = Array.from(
      { length: 5_000 },
      (_, index) => [new Random(1, index).unit(), new Random(1, index + 1).unit()] as const,
    );
    const covariance = pairs.reduce((sum, [one, other]) => sum + (one - 0.5) * (other - 0.5), 0) / pairs.length;
    expect(Math.abs(covariance * 12)).toBeLessThan(0.05);
  });

  test("draws counts with the requested mean, and chooses by weight, never an option with weight zero", () => {
    const random = new Random(11);
    const sum = Array.from({ length: 50_000 }, () => random.count(0.7)).reduce((all, count) => all + count, 0);
    expect(sum / 50_000).toBeCloseTo(0.7, 1);
    const chosen = { often: 0, seldom: 0, never: 0 };
    for (let draw = 0; draw < 10_000; draw++) chosen[random.weighted({ often: 3, seldom: 1, never: 0 })]++;
    expect(chosen.never).toBe(0);
    expect(chosen.often / 10_000).toBeCloseTo(0.75, 1);
  });
});
