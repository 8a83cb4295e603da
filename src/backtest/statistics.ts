import type { Estimate, ScoreReport } from "./report-types.js";

/**
 * Estimates from samples that are clustered by customer: customers are independent of each other, but samples of one customer are alike.
 * The classes here get all samples of a customer, then a call of `endCustomer`, and keep only sums.
 */

/** A score is 0 to 100 with two decimals, so a score in hundredths, its cell, is one of this many integers: counts by cell lose no precision. */
export const CELLS = 10_001;

/**
 * With fewer customers with the outcome, or fewer without it, an estimate has no bounds: so few clusters do not give a reliable standard
 * error (Cameron and Miller 2015, J. Human Resources 50:317–372). The number is a convention.
 */
export const CUSTOMERS_MIN = 10;

export type Direction = ScoreReport["direction"];

/** A share of samples: the ratio of two sums over customers. */
export class Rate {
  samples = 0;
  withOutcome = 0;
  /** Customers with a sample, with a sample that has the outcome, and with a sample that has not. */
  customers = 0;
  customersWith = 0;
  customersWithout = 0;
  /** Of the current customer. */
  #samples = 0;
  #withOutcome = 0;
  /** Over customers, sums of the squares and the product of the two. */
  #nn = 0;
  #ny = 0;
  #yy = 0;

  add(outcome: boolean): void {
    this.#samples++;
    if (outcome) this.#withOutcome++;
  }

  endCustomer(): void {
    const [n, y] = [this.#samples, this.#withOutcome];
    if (n === 0) return;
    this.samples += n;
    this.withOutcome += y;
    this.customers++;
    if (y > 0) this.customersWith++;
    if (y < n) this.customersWithout++;
    this.#nn += n * n;
    this.#ny += n * y;
    this.#yy += y * y;
    this.#samples = this.#withOutcome = 0;
  }

  /** The share of samples with the outcome; null without samples. */
  get value(): number | null {
    return this.samples === 0 ? null : this.withOutcome / this.samples;
  }

  /**
   * The linearized standard error of a ratio under clustering: Rao and Scott 1992, Biometrics 48:577–585. Null with fewer than two
   * customers.
   */
  get standardError(): number | null {
    const rate = this.value;
    if (rate === null || this.customers < 2) return null;
    const residuals = this.#yy - 2 * rate * this.#ny + rate * rate * this.#nn;
    return Math.sqrt(corrected(this.customers) * Math.max(0, residuals)) / this.samples;
  }

  estimate(): Estimate | null {
    return estimateOf(this, onLogitScale);
  }
}

/** The number of samples with each score, with the outcome and without. */
export class ScoreCounts {
  readonly with = new Uint32Array(CELLS);
  readonly without = new Uint32Array(CELLS);
  samplesWith = 0;
  samplesWithout = 0;

  add(cell: number, outcome: boolean): void {
    if (outcome) this.samplesWith++;
    else this.samplesWithout++;
    (outcome ? this.with : this.without)[cell]!++;
  }
}

/**
 * The area under the ROC curve (AUC) of a score, or the AUC of one score minus that of another, over the samples that have both. First every
 * sample is passed to `count`; then `place` is called, and then every sample is passed to `add`, customer by customer.
 */
export class AucEstimator {
  readonly counts = new ScoreCounts();
  readonly #otherCounts: ScoreCounts | null;
  #placements: Placements | null = null;
  #otherPlacements: Placements | null = null;
  customersWith = 0;
  customersWithout = 0;
  #customers = 0;
  /** Of the current customer, for samples with the outcome and without: the sums of the placements minus their mean, and the numbers of samples. */
  #x = 0;
  #y = 0;
  #with = 0;
  #without = 0;
  /** Over customers, sums of the squares and the product of the two. */
  #xx = 0;
  #xy = 0;
  #yy = 0;

  /**
   * @param column the index of the score in a sample's cells
   * @param other the index of the score that it is compared with
   */
  constructor(
    readonly column: number,
    readonly other: number | null = null,
  ) {
    this.#otherCounts = other === null ? null : new ScoreCounts();
  }

  /** @param cells the cells of all scores of a sample; below 0 for an unknown score */
  count(cells: readonly number[], outcome: boolean): void {
    if (!this.#isScored(cells)) return;
    this.counts.add(cells[this.column]!, outcome);
    this.#otherCounts?.add(cells[this.other!]!, outcome);
  }

  /** Sets the direction of each score, and computes the placements. */
  place(direction: Direction, ofOther = direction): void {
    if (this.counts.samplesWith === 0 || this.counts.samplesWithout === 0) return;
    this.#placements = new Placements(this.counts, direction);
    this.#otherPlacements = this.#otherCounts && new Placements(this.#otherCounts, ofOther);
  }

  add(cells: readonly number[], outcome: boolean): void {
    if (this.#placements === null || !this.#isScored(cells)) return;
    let deviation = this.#placements.of(cells[this.column]!, outcome) - this.#placements.auc;
    if (this.#otherPlacements !== null) {
      deviation -= this.#otherPlacements.of(cells[this.other!]!, outcome) - this.#otherPlacements.auc;
    }
    if (outcome) {
      this.#with++;
      this.#x += deviation;
    } else {
      this.#without++;
      this.#y += deviation;
    }
  }

  endCustomer(): void {
    if (this.#with + this.#without === 0) return;
    this.#customers++;
    if (this.#with > 0) this.customersWith++;
    if (this.#without > 0) this.customersWithout++;
    this.#xx += this.#x * this.#x;
    this.#xy += this.#x * this.#y;
    this.#yy += this.#y * this.#y;
    this.#x = this.#y = this.#with = this.#without = 0;
  }

  /** Null unless there are samples both with and without the outcome. */
  get value(): number | null {
    return this.#placements === null ? null : this.#placements.auc - (this.#otherPlacements?.auc ?? 0);
  }

  /**
   * The standard error by Obuchowski 1997, Biometrics 53:567–578: placements are summed over each customer. With one sample for each customer
   * it equals that of DeLong, DeLong and Clarke-Pearson 1988, Biometrics 44:837–845. That of a difference is computed from the differences of
   * placements, since the formula is a quadratic form in them. Null with fewer than two customers with the outcome, or fewer than two without.
   */
  get standardError(): number | null {
    if (this.value === null || this.customersWith < 2 || this.customersWithout < 2) return null;
    const { samplesWith: m, samplesWithout: n } = this.counts;
    const ofWith = (corrected(this.customersWith) * this.#xx) / (m * m);
    const ofWithout = (corrected(this.customersWithout) * this.#yy) / (n * n);
    const ofBoth = (2 * corrected(this.#customers) * this.#xy) / (m * n);
    return Math.sqrt(Math.max(0, ofWith + ofWithout + ofBoth));
  }

  estimate(): Estimate | null {
    return estimateOf(this, this.other === null ? onLogitScale : onPlainScale);
  }

  #isScored(cells: readonly number[]): boolean {
    return cells[this.column]! >= 0 && (this.other === null || cells[this.other]! >= 0);
  }
}

/**
 * Whether samples with the outcome mostly have the lower or the higher scores. This is determined from the same data, so no AUC in this
 * direction is below one half, even for a score that is unrelated to the outcome. That is harmless if the interval of the AUC excludes one
 * half, since the direction is then certain; if the interval contains one half, the report's notes say that nothing is known.
 */
export function directionOf(counts: ScoreCounts): Direction {
  const isUnknown = counts.samplesWith === 0 || counts.samplesWithout === 0;
  return isUnknown || new Placements(counts, "lower").auc >= 0.5 ? "lower" : "higher";
}

/** The placement of a sample: the share of samples with the opposite outcome that it is ordered correctly with; equal scores count half. */
class Placements {
  /** The area under the curve: the mean of the placements, which is the same over the samples with the outcome and over those without. */
  readonly auc: number;
  readonly #ranksOfWith: Uint32Array;
  readonly #ranksOfWithout: Uint32Array;

  constructor(
    private readonly counts: ScoreCounts,
    private readonly direction: Direction,
  ) {
    this.#ranksOfWith = doubledRanks(counts.with);
    this.#ranksOfWithout = doubledRanks(counts.without);
    let sum = 0;
    for (let cell = 0; cell < CELLS; cell++) sum += counts.with[cell]! * this.of(cell, true);
    this.auc = sum / counts.samplesWith;
  }

  of(cell: number, outcome: boolean): number {
    const { samplesWith, samplesWithout } = this.counts;
    const lower = outcome
      ? 1 - this.#ranksOfWithout[cell]! / (2 * samplesWithout)
      : this.#ranksOfWith[cell]! / (2 * samplesWith);
    return this.direction === "lower" ? lower : 1 - lower;
  }
}

/** By cell: twice the number of samples in lower cells, plus the number in the cell itself. Exact up to 2^31 samples. */
function doubledRanks(counts: Uint32Array): Uint32Array {
  let below = 0;
  return counts.map((count) => {
    const rank = 2 * below + count;
    below += count;
    return rank;
  });
}

/** The correction of a sample variance, which divides by the number of customers minus one. */
function corrected(customers: number): number {
  return customers / (customers - 1);
}

interface Estimator {
  value: number | null;
  standardError: number | null;
  customersWith: number;
  customersWithout: number;
}

type Bounds = (value: number, margin: number) => readonly [low: number, high: number];

/**
 * The two-sided 95 % quantile of Student's t distribution, by the expansion in Abramowitz and Stegun 1964, 26.7.5. With few customers it is larger
 * than the normal distribution's 1.96, because standard errors from few customers are too small.
 */
function student95(degreesOfFreedom: number): number {
  const z = 1.959964;
  const [first, second] = [(z ** 3 + z) / 4, (5 * z ** 5 + 16 * z ** 3 + 3 * z) / 96];
  return z + first / degreesOfFreedom + second / degreesOfFreedom ** 2;
}

/** A standard error of 0 does not mean certainty, only that all samples agree, as with a rate of 0 or 1; so it gives no bounds. */
function estimateOf(estimator: Estimator, bounds: Bounds): Estimate | null {
  const { value, standardError, customersWith, customersWithout } = estimator;
  if (value === null) return null;
  const customers = Math.min(customersWith, customersWithout);
  if (customers < CUSTOMERS_MIN || !standardError) return { value, low: null, high: null };
  const [low, high] = bounds(value, student95(customers - 1) * standardError);
  return { value, low, high };
}

const onPlainScale: Bounds = (value, margin) => [value - margin, value + margin];

/** Keeps the bounds of a share within 0 and 1, by the delta method. For an AUC see Pepe 2003, The Statistical Evaluation of Medical Tests. */
const onLogitScale: Bounds = (value, margin) => {
  const logit = Math.log(value / (1 - value));
  const onScale = margin / (value * (1 - value));
  const share = (at: number) => 1 / (1 + Math.exp(-at));
  return [share(logit - onScale), share(logit + onScale)];
};
