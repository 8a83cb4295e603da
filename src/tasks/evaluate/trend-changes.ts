import type { TrendChange } from "../../db/api/evaluation.js";
import type { Effect, HealthScore } from "../../engine/index.js";

/** In any time zone a day begins at a whole second. */
const SECOND_MS = 1_000;

/** Counts the effects of evaluations for the trends, by second; equals what svc.logged_changes computes from the logs. */
export class TrendChanges {
  readonly #counted = new Map<string, TrendChange>();

  /** @param counted receives one change for each measure, second, name and value */
  constructor(private readonly counted: TrendChange[]) {}

  /**
   * Adds the effects of one evaluation of a customer.
   *
   * @param score the customer's score before
   */
  add(score: HealthScore | null, effects: readonly Effect[]): void {
    let former: { overall: number | null; band: string | null } | null = score;
    for (const effect of effects) {
      const { at } = effect;
      if (effect.kind === "transition") this.#count("lifecycle", at, effect.from ?? "", effect.to, 1);
      if (effect.kind === "health") {
        this.#countScore(at, effect, 1);
        if (former !== null) this.#countScore(at, former, -1);
        former = effect;
      }
      if (effect.kind === "emission" && (effect.source === "segment" || effect.source === "signal")) {
        const { source, type, metadata } = effect;
        const name = metadata[source];
        if (typeof name === "string") this.#count(source, at, name, type.split(".")[1] ?? "", 1);
      }
    }
  }

  /** Without an overall score there is nothing to count. */
  #countScore(at: number, { overall, band }: { overall: number | null; band: string | null }, count: 1 | -1): void {
    if (overall === null || band === null) return;
    this.#count("health", at, band, "", count, overall);
    this.#count("score", at, "", String(Math.round(overall)), count, overall);
  }

  /** @param score with at most two decimals; added as integers, so that sums are exact */
  #count(measure: TrendChange["measure"], at: number, name: string, value: string, count: 1 | -1, score = 0): void {
    const second = Math.floor(at / SECOND_MS) * SECOND_MS;
    const key = [measure, second, name, value].join("\n");
    let change = this.#counted.get(key);
    if (change === undefined) {
      change = { measure, at: second, name, value, count: 0, amount: 0 };
      this.#counted.set(key, change);
      this.counted.push(change);
    }
    change.count += count;
    change.amount = (Math.round(change.amount * 100) + count * Math.round(score * 100)) / 100;
  }
}
