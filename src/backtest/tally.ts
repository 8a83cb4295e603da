import type { HealthScore, ModelOutput } from "../engine/index.js";
import type { CustomerSamples, BacktestQuestion, Sample } from "./samples.js";
import { instantsOf, samplesOf } from "./samples.js";
import { AucEstimator, CELLS, type Direction, directionOf, Rate } from "./statistics.js";

/** The facts about a model that a report needs. Ids are in the model's order. */
export interface ModelFacts {
  /** `v3`, or `local` for one that is not deployed. */
  name: string;
  states: string[];
  segments: string[];
  signals: string[];
  health: { bands: string[]; components: { id: string; weight: number }[] } | null;
  /** States that customers never leave. */
  terminal: string[];
  /** Whether any part of the model reads a trait. */
  readsTraits: boolean;
}

/** Counts and sums over the samples of all customers: pass each customer to `count`, then call `place`, then pass each customer to `add`. */
export class Tally {
  readonly base = new Rate();
  alreadyThere = 0;
  censored = 0;
  /** Used samples of customers who are in a terminal state of the judged model. */
  inTerminal = 0;
  /** By instant: whether any customer was known. */
  readonly known: Uint8Array;
  readonly flags: readonly FlagTally[];
  /** By model; null without a health score. */
  readonly scores: readonly (ScoreTally | null)[];
  /** The difference of the two models' scores; null unless both have one. */
  readonly difference: AucEstimator | null;
  readonly #estimators: readonly AucEstimator[];
  /** The cells of the current sample, for all scores of all models: the columns of the estimators. */
  readonly #cells: number[] = [];

  constructor(
    readonly question: BacktestQuestion,
    private readonly facts: readonly ModelFacts[],
  ) {
    this.known = new Uint8Array(instantsOf(question).length);
    this.flags = facts.map((model) => new FlagTally(model, question.within));
    this.scores = facts.map(({ health }) => health && new ScoreTally(health.components, this.#cells));
    const [one, other] = this.scores;
    this.difference = one && other ? new AucEstimator(one.column, other.column) : null;
    this.#estimators = this.scores.flatMap((scores) => scores?.estimators ?? []).concat(this.difference ?? []);
  }

  count(customer: CustomerSamples): void {
    for (const sample of this.#samplesOf(customer)) {
      this.known[sample.index] = 1;
      for (const [n, flags] of this.flags.entries()) flags.look(sample.said[n]!);
      if (sample.status === "there") this.alreadyThere++;
      if (sample.status === "censored") this.censored++;
      if (sample.status !== "used") continue;
      const outcome = sample.outcomeAt !== null;
      this.base.add(outcome);
      if (this.facts[0]!.terminal.includes(sample.said[0]!.state ?? "")) this.inTerminal++;
      for (const flags of this.flags) flags.count(sample);
      for (const estimator of this.#estimators) estimator.count(this.#cells, outcome);
    }
    for (const rate of [this.base, ...this.flags.flatMap((flags) => flags.rates)]) rate.endCustomer();
  }

  place(): void {
    for (const scores of this.scores) scores?.place();
    const [one, other] = this.scores;
    this.difference?.place(one!.direction, other!.direction);
  }

  add(customer: CustomerSamples): void {
    for (const sample of this.#samplesOf(customer)) {
      if (sample.status !== "used") continue;
      const outcome = sample.outcomeAt !== null;
      for (const scores of this.scores) scores?.add(outcome);
      for (const estimator of this.#estimators) estimator.add(this.#cells, outcome);
    }
    for (const scores of this.scores) for (const { rate } of scores?.bins ?? []) rate.endCustomer();
    for (const estimator of this.#estimators) estimator.endCustomer();
  }

  *#samplesOf(customer: CustomerSamples): Generator<Sample> {
    for (const part of [...this.flags, ...this.scores]) part?.beginCustomer();
    for (const sample of samplesOf(this.question, customer)) {
      for (const [n, scores] of this.scores.entries()) scores?.look(sample.said[n]!);
      yield sample;
    }
  }
}

/** Lead times are counted in thousandths of the horizon. */
export const LEAD_STEPS = 1_000;

/** Something that a model says about some customers: a state, a band, a segment, a signal. */
export class Flag {
  /** The rate of the outcome among samples with the flag. */
  readonly rate = new Rate();
  readonly leads = new Uint32Array(LEAD_STEPS);
  falseAlarms = 0;

  constructor(readonly id: string) {}
}

const NONE: ReadonlySet<Flag> = new Set();

class FlagTally {
  readonly states: ReadonlyMap<string, Flag>;
  readonly bands: ReadonlyMap<string, Flag>;
  readonly segments: ReadonlyMap<string, Flag>;
  readonly signals: ReadonlyMap<string, Flag>;
  readonly rates: readonly Rate[];
  #said: ModelOutput | null = null;
  /** The flags at the current sampling instant, and at the previous one. */
  #flagged = NONE;
  #flaggedBefore = NONE;

  constructor(
    { states, segments, signals, health }: ModelFacts,
    private readonly within: number,
  ) {
    const flagsOf = (ids: readonly string[]) => new Map(ids.map((id) => [id, new Flag(id)]));
    this.states = flagsOf(states);
    this.bands = flagsOf(health?.bands ?? []);
    this.segments = flagsOf(segments);
    this.signals = flagsOf(signals);
    this.rates = [this.states, this.bands, this.segments, this.signals].flatMap((flags) =>
      Array.from(flags.values(), ({ rate }) => rate),
    );
  }

  beginCustomer(): void {
    this.#said = null;
    this.#flagged = NONE;
  }

  look(said: ModelOutput): void {
    this.#flaggedBefore = this.#flagged;
    if (said === this.#said) return;
    this.#said = said;
    const { state, health, segments, signals } = said;
    this.#flagged = new Set([
      ...(state === null ? [] : [this.states.get(state)!]),
      ...(health === null ? [] : [this.bands.get(health.band)!]),
      ...segments.map((id) => this.segments.get(id)!),
      ...signals.map((id) => this.signals.get(id)!),
    ]);
  }

  count({ at, outcomeAt }: Sample): void {
    for (const flag of this.#flagged) {
      flag.rate.add(outcomeAt !== null);
      if (outcomeAt !== null) flag.leads[Math.ceil(((outcomeAt - at) * LEAD_STEPS) / this.within) - 1]!++;
      else if (!this.#flaggedBefore.has(flag)) flag.falseAlarms++;
    }
  }
}

/** A range of scores. */
export interface Bin {
  /** The first and last cell, inclusive. */
  from: number;
  to: number;
  rate: Rate;
}

const UNKNOWN = -1;

export class ScoreTally {
  readonly column: number;
  readonly whole: AucEstimator;
  readonly components: readonly {
    id: string;
    weight: number;
    alone: AucEstimator;
    without: AucEstimator;
    gain: AucEstimator;
  }[];
  readonly estimators: readonly AucEstimator[];
  direction: Direction = "lower";
  readonly bins: Bin[] = [];
  readonly #binOf: Bin[] = [];
  readonly thresholds = Array.from({ length: 21 }, (_, step) => ({ cell: 500 * step, falseAlarms: 0 }));
  #health: HealthScore | null = null;
  #cell = UNKNOWN;
  #cellBefore = UNKNOWN;

  /** @param cells the cells of all scores, to which those of this model are appended */
  constructor(
    components: readonly { id: string; weight: number }[],
    private readonly cells: number[],
  ) {
    this.column = cells.push(UNKNOWN) - 1;
    this.whole = new AucEstimator(this.column);
    this.components = components.map((component) => {
      const without = cells.push(UNKNOWN, UNKNOWN) - 1;
      return {
        ...component,
        alone: new AucEstimator(without - 1),
        without: new AucEstimator(without),
        gain: new AucEstimator(this.column, without),
      };
    });
    this.estimators = [this.whole, ...this.components.flatMap(({ alone, without, gain }) => [alone, without, gain])];
  }

  beginCustomer(): void {
    this.#set(null);
  }

  look({ health }: ModelOutput): void {
    this.#cellBefore = this.#cell;
    if (health !== this.#health) this.#set(health);
  }

  place(): void {
    this.direction = directionOf(this.whole.counts);
    for (const estimator of this.estimators) estimator.place(this.direction);
    this.#makeBins();
  }

  add(outcome: boolean): void {
    if (this.#cell === UNKNOWN) return;
    this.#binOf[this.#cell]!.rate.add(outcome);
    if (outcome) return;
    for (const threshold of this.thresholds) {
      if (this.#isFlagged(this.#cell, threshold.cell) && !this.#isFlagged(this.#cellBefore, threshold.cell)) {
        threshold.falseAlarms++;
      }
    }
  }

  #isFlagged(cell: number, threshold: number): boolean {
    return cell !== UNKNOWN && (this.direction === "lower" ? cell <= threshold : cell >= threshold);
  }

  #set(health: HealthScore | null): void {
    this.#health = health;
    let column = this.column;
    this.#cell = this.cells[column++] = cellOf(health?.overall);
    for (const { id } of this.components) {
      this.cells[column++] = cellOf(health?.components[id]);
      this.cells[column++] = cellOf(health ? this.#scoreWithout(id, health) : undefined);
    }
  }

  /**
   * The weighted mean of the other known components. Stored component scores are rounded to two decimals, so this may differ by a hundredth
   * from the score of a model without the component.
   */
  #scoreWithout(omitted: string, health: HealthScore): number | undefined {
    let [sum, weights] = [0, 0];
    for (const { id, weight } of this.components) {
      const score = health.components[id];
      if (id === omitted || score === undefined) continue;
      sum += weight * score;
      weights += weight;
    }
    return weights === 0 ? undefined : sum / weights;
  }

  /** Equal scores go into the bin where the middle one of them belongs. */
  #makeBins(): void {
    const { counts } = this.whole;
    const samples = counts.samplesWith + counts.samplesWithout;
    let below = 0;
    let last = -1;
    for (let cell = 0; cell < CELLS; cell++) {
      const here = counts.with[cell]! + counts.without[cell]!;
      if (here === 0) continue;
      const tenth = Math.floor((10 * (below + here / 2)) / samples);
      if (tenth > last) this.bins.push({ from: cell, to: cell, rate: new Rate() });
      last = tenth;
      const bin = this.bins.at(-1)!;
      bin.to = cell;
      this.#binOf[cell] = bin;
      below += here;
    }
  }
}

function cellOf(score: number | undefined): number {
  return score === undefined ? UNKNOWN : Math.round(score * 100);
}
