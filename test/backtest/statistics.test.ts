import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AucEstimator, CELLS, directionOf, Rate } from "../../src/backtest/statistics.js";
import { propertyRuns } from "../support/property-runs.js";

/** By customer: whether the outcome came, and the cells of two scores. */
type Customers = readonly (readonly [outcome: boolean, one: number, other: number])[][];

function estimated(customers: Customers, columns: [number] | [number, number], direction: "lower" | "higher") {
  const estimator = new AucEstimator(columns[0], columns[1]);
  for (const [outcome, ...cells] of customers.flat()) estimator.count(cells, outcome);
  estimator.place(direction);
  for (const samples of customers) {
    for (const [outcome, ...cells] of samples) estimator.add(cells, outcome);
    estimator.endCustomer();
  }
  return estimator;
}

function rateOf(customers: Customers) {
  const rate = new Rate();
  for (const samples of customers) {
    for (const [outcome] of samples) rate.add(outcome);
    rate.endCustomer();
  }
  return rate;
}

describe("published values", () => {
  it("for 109 images without clusters match Stata's manual (roctab; Hanley and McNeil 1982)", () => {
    const ratings = [
      [false, [33, 6, 6, 11, 2]],
      [true, [3, 2, 2, 11, 33]],
    ] as const;
    const customers = ratings.flatMap(([outcome, counts]) =>
      counts.flatMap((count, rating) => Array.from({ length: count }, () => [[outcome, rating, 0] as const])),
    );
    const auc = estimated(customers, [0], "higher");
    expect(auc.value).toBeCloseTo(0.8932, 4);
    expect(auc.standardError).toBeCloseTo(0.0307, 4);
    expect(auc.value! - 1.959964 * auc.standardError!).toBeCloseTo(0.83295, 5);
    expect(auc.value! + 1.959964 * auc.standardError!).toBeCloseTo(0.95339, 5);
  });

  it("for arteries within patients match Obuchowski 1997, for one reader and for the difference of two", () => {
    // For each patient: 1 for a narrowed artery, and the measurement of each of two readers.
    const patients =
      "1 87 87 1 79 83|1 88 94 1 95 93|1 100 100 1 68 79|1 65 61 1 89 91|1 97 97 1 100 100|1 100 99 1 89 88|1 77 77|" +
      "1 94 89 0 45 44|1 89 92 0 -11 -17|1 95 91 0 30 14|1 95 95 0 10 -122|1 100 100 0 19 -3|1 75 75|0 70 73 1 70 81|" +
      "0 26 27 1 86 93|0 0 8 1 65 70|0 6 23 1 100 100|0 76 79 1 96 95|0 44 55 1 100 100|0 73 67 1 97 94|1 85 86|" +
      "0 58 60 1 100 99|0 -2 -2 1 100 100|0 -3 -14 0 0 -11|0 47 -3 0 -94 -90|0 -16 17 0 75 85|0 5 -22 0 -1 -14|" +
      "0 -6 -52|0 37 38 0 47 35|0 42 40 0 4 6|0 55 23 0 55 45|0 4 -87 0 -13 -65|0 49 24 0 35 9|0 53 66|0 2 -15|0 -48 -78";
    const customers = patients.split("|").map((patient) => {
      const numbers = patient.split(" ").map(Number);
      return Array.from({ length: numbers.length / 3 }, (_, n) => {
        const [narrowed, one, other] = numbers.slice(3 * n);
        // An AUC depends only on the order of scores.
        return [narrowed === 1, one! + 200, other! + 200] as const;
      });
    });
    const [one, other, difference] = ([[0], [1], [1, 0]] as const).map((columns) =>
      estimated(customers, [...columns], "higher"),
    );
    expect([one!.customersWith, one!.customersWithout]).toEqual([23, 27]);
    expect(one!.value).toBeCloseTo(0.9837, 4);
    expect(one!.standardError).toBeCloseTo(0.0108, 4);
    expect(other!.value).toBeCloseTo(0.9852, 4);
    expect(other!.standardError).toBeCloseTo(0.0097, 4);
    expect(difference!.value).toBeCloseTo(0.0014, 4);
    expect(difference!.standardError).toBeCloseTo(0.0066, 4);
    expect(difference!.value! - 1.959964 * difference!.standardError!).toBeCloseTo(-0.0115, 4);
    expect(difference!.value! + 1.959964 * difference!.standardError!).toBeCloseTo(0.0143, 4);
    // The published parts of the first reader's variance: S10 / 29 + S01 / 36 + 2 S11 / (29 · 36).
    const variance = 0.0013151307 / 29 + 0.0022375873 / 36 + (2 * 0.0051785478) / (29 * 36);
    expect(one!.standardError! ** 2).toBeCloseTo(variance, 11);
  });
});

const cell = fc.oneof(fc.integer({ min: 0, max: 5 }), fc.integer({ min: 0, max: CELLS - 1 }));
const sample = fc.tuple(fc.boolean(), cell, cell);
const customers = fc
  .array(fc.array(sample, { minLength: 1, maxLength: 5 }), { minLength: 2, maxLength: 12 })
  .filter((all) =>
    [true, false].every((side) => all.filter((of) => of.some(([outcome]) => outcome === side)).length > 1),
  );
const runs = { numRuns: propertyRuns(60) };
const equal = (one: number | null, other: number | null) => expect(one!).toBeCloseTo(other!, 9);
/** Compares standard errors as variances: near 0 the root turns a sum's rounding error into 3e-9. */
const equalErrors = (one: number | null, other: number | null) => expect(one! ** 2).toBeCloseTo(other! ** 2, 11);

/** The AUC by its definition, from all pairs. */
function byPairs(all: Customers, column: 1 | 2) {
  const samples = all.flat();
  const mean = (values: number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const order = (a: number, b: number) => (a < b ? 1 : a === b ? 0.5 : 0);
  const [withs, withouts] = [true, false].map((side) =>
    samples.filter(([outcome]) => outcome === side).map((of) => of[column]),
  );
  const placed = ([outcome, one, other]: Customers[number][number]) => {
    const score = column === 1 ? one : other;
    return outcome
      ? mean(withouts!.map((without) => order(score, without)))
      : mean(withs!.map((of) => order(of, score)));
  };
  return {
    auc: mean(withs!.flatMap((a) => withouts!.map((b) => order(a, b)))),
    placed,
    m: withs!.length,
    n: withouts!.length,
  };
}

describe("the area under the curve", () => {
  it("is the share of pairs in the right order, and in the other direction the share of the rest", () => {
    fc.assert(
      fc.property(customers, (all) => {
        const { auc } = byPairs(all, 1);
        equal(estimated(all, [0], "lower").value, auc);
        equal(estimated(all, [0], "higher").value, 1 - auc);
        const { counts, standardError } = estimated(all, [0], "lower");
        if (Math.abs(auc - 0.5) > 1e-9) expect(directionOf(counts)).toBe(auc > 0.5 ? "lower" : "higher");
        equalErrors(estimated(all, [0], "higher").standardError, standardError);
      }),
      runs,
    );
  });

  it("has DeLong's standard error if each customer has one sample, and so has a difference", () => {
    fc.assert(
      fc.property(customers, (some) => {
        const all = some.flat().map((of) => [of]);
        const [one, other] = [byPairs(all, 1), byPairs(all, 2)];
        const covariance = (side: boolean, weights: [number, number]) => {
          const values = all
            .flat()
            .filter(([outcome]) => outcome === side)
            .map((of) => weights[0] * one.placed(of) + weights[1] * other.placed(of));
          const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
          return values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (values.length - 1);
        };
        const delong = (weights: [number, number]) =>
          Math.sqrt(covariance(true, weights) / one.m + covariance(false, weights) / one.n);
        equalErrors(estimated(all, [0], "lower").standardError, delong([1, 0]));
        equalErrors(estimated(all, [0, 1], "lower").standardError, delong([1, -1]));
      }),
      runs,
    );
  });

  it("keeps its standard error when every sample is repeated for the same customer", () => {
    fc.assert(
      fc.property(customers, fc.integer({ min: 2, max: 4 }), (all, times) => {
        const repeated = all.map((samples) => samples.flatMap((of) => Array.from({ length: times }, () => of)));
        for (const columns of [[0], [0, 1]] as [number][]) {
          equalErrors(
            estimated(repeated, columns, "lower").standardError,
            estimated(all, columns, "lower").standardError,
          );
        }
        equalErrors(rateOf(repeated).standardError, rateOf(all).standardError);
      }),
      runs,
    );
  });

  it("does not depend on the order of customers or their samples", () => {
    const shuffled = customers.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length })),
    );
    fc.assert(
      fc.property(shuffled, ([all, other]) => {
        const reversed = other.map((samples) => samples.toReversed());
        equal(estimated(reversed, [0], "lower").value, estimated(all, [0], "lower").value);
        equalErrors(estimated(reversed, [0, 1], "lower").standardError, estimated(all, [0, 1], "lower").standardError);
        equalErrors(rateOf(reversed).standardError, rateOf(all).standardError);
      }),
      runs,
    );
  });

  it("of a score that some samples lack covers only those that have it", () => {
    fc.assert(
      fc.property(customers, fc.array(sample, { maxLength: 4 }), (all, unknown) => {
        const more = [...all, unknown.map(([outcome, one]) => [outcome, one, -1] as const)];
        equalErrors(estimated(more, [0, 1], "lower").standardError, estimated(all, [0, 1], "lower").standardError);
        equal(estimated(more, [1], "lower").value, estimated(all, [1], "lower").value);
      }),
      runs,
    );
  });
});

it("the standard error of a rate is close to its jackknife estimate over customers", () => {
  const next = random(3);
  const all = Array.from({ length: 200 }, () => {
    const chance = next() ** 2;
    return Array.from({ length: 1 + Math.floor(next() * 8) }, () => [next() < chance, 0, 0] as const);
  });
  const left = all.map((_, without) => rateOf(all.toSpliced(without, 1)).value!);
  const mean = left.reduce((sum, value) => sum + value, 0) / left.length;
  const jackknife = Math.sqrt((199 / 200) * left.reduce((sum, value) => sum + (value - mean) ** 2, 0));
  expect(rateOf(all).standardError! / jackknife).toBeCloseTo(1, 1);
});

describe("bounds", () => {
  const side = (outcome: boolean, count: number, from: number): [readonly [boolean, number, number]][] =>
    Array.from({ length: count }, (_, n) => [[outcome, n + from, n + from]]);
  const of = (withs: number, withouts: number) => [...side(true, withs, 0), ...side(false, withouts, 3)];

  it("exist from ten customers with the outcome and ten without", () => {
    for (const few of [of(9, 30), of(30, 9)]) {
      expect(rateOf(few).estimate()).toMatchObject({ low: null, high: null });
      expect(estimated(few, [0], "lower").estimate()).toMatchObject({ low: null, high: null });
    }
    const rate = rateOf(of(10, 10)).estimate()!;
    expect(rate.value).toBe(0.5);
    expect(rate.low).toBeCloseTo(1 - rate.high!, 12);
    const auc = estimated(of(10, 10), [0], "lower").estimate()!;
    expect(auc.low).toBeGreaterThan(0);
    expect(auc.low).toBeLessThan(auc.value);
    expect(auc.high).toBeLessThan(1);
  });

  it("follow Student's t for few customers, and the normal distribution for many", () => {
    for (const [customers, quantile] of [
      [10, 2.262],
      [30, 2.045],
      [10_000, 1.96],
    ] as const) {
      const difference = estimated(
        of(customers, customers).map(([[outcome, one]]) => [[outcome, one % CELLS, (one * 7) % 5] as const]),
        [0, 1],
        "lower",
      );
      const { value, high } = difference.estimate()!;
      expect((high! - value) / difference.standardError!).toBeCloseTo(quantile, 2);
    }
  });

  it("do not exist without variation: a rate of 0 or 1, scores that separate the samples, equal scores", () => {
    expect(rateOf(of(30, 0)).estimate()).toEqual({ value: 1, low: null, high: null });
    expect(rateOf(of(0, 30)).estimate()).toEqual({ value: 0, low: null, high: null });
    const parted = of(30, 30).map((samples) => samples.map(([outcome]) => [outcome, outcome ? 1 : 2, 7] as const));
    expect(estimated(parted, [0], "lower").estimate()).toEqual({ value: 1, low: null, high: null });
    expect(estimated(parted, [1], "lower").estimate()).toEqual({ value: 0.5, low: null, high: null });
    expect(estimated(of(30, 30), [0, 1], "lower").estimate()).toEqual({ value: 0, low: null, high: null });
  });

  it("and the value do not exist without samples", () => {
    expect(rateOf([]).estimate()).toBeNull();
    expect(estimated(of(30, 0), [0], "lower").estimate()).toBeNull();
    expect(estimated(of(0, 30), [0, 1], "lower").estimate()).toBeNull();
  });
});

/** Numbers in [0, 1) that are the same in each run: the linear congruential generator of Numerical Recipes. */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return state / 2 ** 32;
  };
}

/** The coverage of intervals in 400 rounds, with a population whose samples are correlated within customers. */
describe("in a simulation, about 95% of the intervals contain the true value", () => {
  const ROUNDS = 400;

  /** Two scores that share a customer's own part; the outcome, likely for three of ten customers, lowers both. */
  function population(next: () => number, size: number): Customers {
    const normal = () => Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next());
    const cellOf = (score: number) => Math.max(0, Math.min(CELLS - 1, Math.round(5_000 + 1_000 * score)));
    return Array.from({ length: size }, () => {
      const own = normal();
      const chance = next() < 0.3 ? 0.6 : 0.05;
      return Array.from({ length: 1 + Math.floor(next() * 12) }, () => {
        const outcome = next() < chance;
        const shift = outcome ? 1 : 0;
        return [
          outcome,
          cellOf(own + 0.5 * normal() - 0.8 * shift),
          cellOf(own + 0.8 * normal() - 0.6 * shift),
        ] as const;
      });
    });
  }

  const truth = population(random(1), 20_000);

  function covered(
    size: number,
    estimate: (all: Customers) => { low: number | null; high: number | null },
    value: number,
  ) {
    const next = random(2);
    let [holds, bounded] = [0, 0];
    for (let round = 0; round < ROUNDS; round++) {
      const { low, high } = estimate(population(next, size));
      if (low === null) continue;
      bounded++;
      if (low <= value && value <= high!) holds++;
    }
    expect(bounded).toBeGreaterThan(0.9 * ROUNDS);
    return holds / bounded;
  }

  it.each([
    ["an area", (all: Customers) => estimated(all, [0], "lower")],
    ["a difference of two areas", (all: Customers) => estimated(all, [0, 1], "lower")],
    ["a rate", rateOf],
  ])("of %s", (_, estimator) => {
    for (const size of [30, 100]) {
      const share = covered(size, (all) => estimator(all).estimate()!, estimator(truth).value!);
      expect(share).toBeGreaterThanOrEqual(0.92);
      expect(share).toBeLessThanOrEqual(0.98);
    }
  });

  it("but not of those that treat a customer's samples as independent", () => {
    const independent = (all: Customers) => rateOf(all.flat().map((of) => [of]));
    expect(covered(100, (all) => independent(all).estimate()!, rateOf(truth).value!)).toBeLessThan(0.8);
  });
});
