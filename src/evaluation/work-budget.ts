import type { Budget, Effect } from "../engine/index.js";

/** The most output between two writes: approximately, as bytes of text. */
const BYTES_MAX = 16 * 1024 * 1024;
/** How long the engine may work between two writes, and how long on one customer: other environments wait for the same thread. */
const MS_MAX = 1_000;
const CUSTOMER_MS_MAX = 50;
/** The clock is read only once in this many checks, because reading it takes longer than many instants do. */
const LOOKS_PER_TIME = 8;
const EFFECT_BYTES = 200;
/** The cost of a delivery: a row with indexes, a claim, a request and a row of its outcome. */
const DELIVERY_BYTES = 3_200;

/** The share of a full budget for one step of a replay, since other work waits for the same thread. */
export const REPLAY_SHARE = 0.25;

/**
 * Limits the work between two writes, so that transactions are short and memory is bounded, whatever the model and the customers. The
 * remaining work is done under the next budget.
 */
export class WorkBudget {
  #bytes = 0;
  #spentMs = 0;
  /** The size of each rule's explained conditions, which is about the same at each run. */
  readonly #explanationBytes = new Map<string, number>();

  /** Of the current customer: how many effects are counted, and when its time is over. */
  #seen = 0;
  #looks = 0;
  #endsAt: number | undefined;
  #isLate = false;
  /** One function for all customers: a loader that preserves function names would name one for each customer, which takes longer than its calls. */
  readonly #ofCustomer: Budget = (effects) => {
    for (; this.#seen < effects.length; this.#seen++) this.#bytes += this.#bytesOf(effects[this.#seen]!);
    if (this.#looks++ % LOOKS_PER_TIME === 0) {
      const now = performance.now();
      this.#endsAt ??= now + CUSTOMER_MS_MAX;
      this.#isLate = now >= this.#endsAt;
    }
    return this.#bytes < this.#bytesMax && !this.#isLate;
  };

  readonly #bytesMax: number;
  readonly #msMax: number;

  /** @param share of the full budget, up to 1 @param webhooks the most webhooks that an emission is delivered to */
  constructor(
    share: number,
    private readonly webhooks = 0,
  ) {
    this.#bytesMax = BYTES_MAX * share;
    this.#msMax = MS_MAX * share;
  }

  get isSpent(): boolean {
    return this.#bytes >= this.#bytesMax || this.#spentMs >= this.#msMax;
  }

  /** Counts time that was spent outside of the engine. */
  charge(ms: number): void {
    this.#spentMs += ms;
  }

  /** Evaluates a customer within the budget. */
  spend<T>(evaluate: (budget: Budget) => T): T {
    const beganAt = performance.now();
    this.#seen = 0;
    this.#looks = 0;
    this.#isLate = false;
    this.#endsAt = undefined;
    try {
      return evaluate(this.#ofCustomer);
    } finally {
      this.#spentMs += performance.now() - beganAt;
    }
  }

  #bytesOf(effect: Effect): number {
    if (effect.kind === "emission") return EFFECT_BYTES + DELIVERY_BYTES * this.webhooks;
    if (effect.kind !== "ruleExecuted") return EFFECT_BYTES;
    let bytes = this.#explanationBytes.get(effect.rule);
    if (bytes === undefined) {
      bytes = JSON.stringify(effect.conditions).length;
      this.#explanationBytes.set(effect.rule, bytes);
    }
    return EFFECT_BYTES + bytes;
  }
}
