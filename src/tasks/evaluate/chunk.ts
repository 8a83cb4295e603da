import { setImmediate as nextTurn } from "node:timers/promises";
import type { Logger } from "pino";
import type { Sql, TransactionSql } from "postgres";
import { call } from "../../db/api/call.js";
import type { ChunkLimits, CustomerInput, EvaluationInput, EvaluationResult } from "../../db/api/evaluation.js";
import { loadedState } from "../../db/api/evaluation.js";
import { inTransaction } from "../../db/transaction.js";
import { hasMemoryOf, HistoryNeeded } from "../../engine/index.js";
import { HistoryCache } from "../../evaluation/history.js";
import type { Models } from "../../evaluation/models.js";
import { EVALUATED, EVALUATION_DELAY, type WorkerCounters } from "../../metrics/worker-metrics.js";
import { WorkBudget } from "../../evaluation/work-budget.js";
import { EvaluationBuilder } from "./evaluation-result.js";
import { fetchHistory, rebuildMemories, type WaitingCustomer } from "./histories.js";

export interface ChunkDependencies {
  sql: Sql;
  models: Models;
  settleSeconds: number;
  logger: Logger;
  /** Counts evaluated operations and their delay. */
  counters?: WorkerCounters | undefined;
  /** The instant to evaluate at (ms); by default the database's clock. */
  at?: number;
}

export interface ChunkOptions {
  limits: ChunkLimits;
  /** Makes the chunk a trial: called with the customers taken before anything is done with them. Without it a suspected environment is skipped. */
  onTaken?: (customerIds: string[]) => Promise<unknown>;
}

/** Length of synchronous work before the thread yields to other tasks. */
const SLICE_MS = 10;

/** For how many customers history is held at once, and condition memory is rebuilt by one query. */
const WAITING_MAX = 50;
const REBUILT_MAX = 20;

/** The limits of a chunk when nothing is known of its customers and no other environment waits: it has the whole budget. */
export const CHUNK_LIMITS: ChunkLimits = { customers: 500, operations: 5_000 };

/** A customer to evaluate, and the history that was fetched for it. */
type Candidate = Pick<WaitingCustomer, "customer" | "state"> & Partial<Pick<WaitingCustomer, "history">>;

/** One transaction: takes customers, evaluates them as far as a budget allows, and writes everything back. */
export class Chunk {
  /** The customers taken; known even if the transaction failed. */
  customerIds: string[] = [];
  /** How many of them were reached before the budget was spent. */
  reached = 0;
  /** Whether their evaluation was begun. */
  isBegun = false;
  /** Whether there is, or may be, more to do. */
  leavesWork = false;
  /** What the chunk commits, and when its input was read by the process's clock. */
  #evaluated: { input: EvaluationInput; result: EvaluationResult; readAt: number } | null = null;
  readonly #failed = new Map<string, unknown>();
  /** Customers whose evaluation needs history that was not fetched yet. */
  #waiting: WaitingCustomer[] = [];
  #sliceBegan = performance.now();

  constructor(
    private readonly dependencies: ChunkDependencies,
    private readonly environmentId: number,
    private readonly options: ChunkOptions,
  ) {}

  /** Returns `busy` if two others evaluate the environment, `suspected` if only a trial can evaluate it. */
  async run(): Promise<"done" | "busy" | "suspected"> {
    const { sql, settleSeconds, at } = this.dependencies;
    const { limits, onTaken } = this.options;
    const outcome = await inTransaction(sql, "isolation level read committed", async (tx) => {
      const begin = onTaken === undefined ? "begin_chunk" : "begin_trial_chunk";
      const instant = at === undefined ? null : new Date(at);
      const input = await call(tx, begin, this.environmentId, limits, settleSeconds, instant);
      if (input.busy) return "busy";
      if (input.suspected) return "suspected";
      this.customerIds = input.customers.map((customer) => customer.customerId);
      if (input.customers.length > 0) await this.#evaluate(tx, input);
      return "done";
    });
    this.#count();
    return outcome;
  }

  /** After the commit. Acceptance is known by the database's clock; the process's clock only measures how long the chunk took. */
  #count(): void {
    const { counters } = this.dependencies;
    if (counters === undefined || this.#evaluated === null) return;
    const { input, result, readAt } = this.#evaluated;
    const committedAt = input.now + (performance.now() - readAt);
    const consumed = new Map(result.consumed.map(({ customerId, seqs }) => [customerId, new Set(seqs)]));
    let evaluated = 0;
    for (const { customerId, operations } of input.customers) {
      const seqs = consumed.get(customerId);
      evaluated += seqs?.size ?? 0;
      for (const [seq, acceptedAt, , , occurredAt] of operations) {
        if (seqs?.has(seq) !== true) continue;
        counters.observe(EVALUATION_DELAY, Math.max(0, committedAt - Math.max(acceptedAt, occurredAt ?? 0)) / 1000);
      }
    }
    if (evaluated > 0) counters.count(EVALUATED, [], evaluated);
  }

  async #evaluate(tx: TransactionSql, input: EvaluationInput): Promise<void> {
    const readAt = performance.now();
    const load = (version: number) => call(tx, "load_snapshot", input.projectId, version);
    const model = await this.dependencies.models.get(input, load);
    await this.options.onTaken?.(this.customerIds);
    this.isBegun = true;
    const builder = new EvaluationBuilder(model, input);
    const share = Math.min(1, this.options.limits.operations / CHUNK_LIMITS.operations);
    const budget = new WorkBudget(share, input.webhooks);

    // Condition memory of another version is rebuilt from retained events.
    const outdated: CustomerInput[] = [];
    for (const customer of input.customers) {
      if (budget.isSpent) break;
      this.reached++;
      await this.#attempt(customer, () => {
        const state = loadedState(customer);
        if (customer.state !== null && !hasMemoryOf(model, state)) outdated.push(customer);
        else this.#add(builder, budget, { customer, state });
      });
    }
    this.reached -= outdated.length;
    while (outdated.length > 0 && !budget.isSpent) {
      const beganAt = performance.now();
      const group = outdated.splice(0, REBUILT_MAX);
      for await (const rebuilt of rebuildMemories(tx, this.environmentId, model, group)) {
        const { customer } = rebuilt;
        await this.#attempt(customer, () => this.#add(builder, budget, { customer, state: rebuilt.state() }));
      }
      this.reached += group.length;
      budget.charge(performance.now() - beganAt);
    }
    // One group is finished before the next, to bound the history held; once the budget is spent, the others are left to a later chunk.
    while (this.#waiting.length > 0 && !(budget.isSpent && builder.result.customers.length > 0)) {
      for (let group = this.#waiting.splice(0, WAITING_MAX); group.length > 0;) {
        const remaining = this.#waiting.length;
        await fetchHistory(tx, this.environmentId, group);
        for (const one of group) await this.#attempt(one.customer, () => this.#add(builder, budget, one));
        group = this.#waiting.splice(remaining);
      }
    }
    this.leavesWork =
      builder.leavesWork ||
      input.more ||
      this.#waiting.length > 0 ||
      this.reached < input.customers.length ||
      input.customers.length >= this.options.limits.customers;

    for (const [customerId, error] of this.#failed) {
      await setAsideCustomer(tx, this.environmentId, customerId, error, this.dependencies.logger);
    }
    const { result } = builder;
    await call(tx, "apply_evaluation", this.environmentId, input, result);
    this.#evaluated = { input, result, readAt };
  }

  /** Evaluates a customer from its former state with the history fetched so far, or lets it wait for more history. */
  #add(builder: EvaluationBuilder, budget: WorkBudget, { customer, state, history }: Candidate): void {
    try {
      budget.spend((share) => builder.add(customer, state, share, history?.source));
    } catch (error) {
      if (!(error instanceof HistoryNeeded)) throw error;
      this.#waiting.push({ customer, state, history: history ?? new HistoryCache(), request: error.request });
    }
  }

  /** The engine is pure: an error for a customer would recur every time, so the customer is set aside at once. */
  async #attempt({ customerId }: CustomerInput, evaluate: () => void): Promise<void> {
    try {
      evaluate();
    } catch (error) {
      this.#failed.set(customerId, error);
    }
    if (performance.now() - this.#sliceBegan < SLICE_MS) return;
    await nextTurn();
    this.#sliceBegan = performance.now();
  }
}

export async function setAsideCustomer(
  sql: Sql | TransactionSql,
  environmentId: number,
  customerId: string,
  error: unknown,
  logger: Logger,
): Promise<void> {
  logger.error(
    { err: error, environmentId },
    "a customer's evaluation failed, and the customer was set aside: see `svc customers list --set-aside`",
  );
  await call(sql, "set_aside_customer", environmentId, customerId, String(error));
}
