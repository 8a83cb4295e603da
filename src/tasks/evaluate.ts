import type { Logger } from "pino";
import type { Sql, TransactionSql } from "postgres";
import {
  applyEvaluation,
  beginEvaluation,
  loadSnapshot,
  setAsideCustomer,
  type ChunkLimits,
  type CustomerInput,
  type EvaluationInput,
  type EvaluationResult,
} from "../db/calls-evaluation.js";
import { hasMemoryOf, HistoryNeeded, rebuildMemory } from "../engine/index.js";
import { HistoryAtHand } from "../evaluation/history-at-hand.js";
import type { Models } from "../evaluation/models.js";
import { stateOf } from "../evaluation/stored-state.js";
import type { WorkerCounters } from "../metrics/worker-counters.js";
import { EVALUATED, EVALUATION_DELAY } from "../metrics/worker-metrics.js";
import { EvaluationBuilder } from "./evaluation-result.js";
import { eventsOf, fetchHistory, historiesOf, type Waiting } from "./histories.js";

export interface EvaluateDependencies {
  sql: Sql;
  models: Models;
  settleSeconds: number;
  logger: Logger;
  /** What was evaluated is counted here. */
  counters?: WorkerCounters;
  /** The instant to evaluate at (ms); the database's clock unless given. */
  at?: number;
  limits?: ChunkLimits;
}

const LIMITS: ChunkLimits = { customers: 500, operations: 5_000 };

/**
 * Evaluates an environment until nothing of it waits or is due, or until `goesOn`, asked before each chunk that is not a second try,
 * says no. Each chunk of customers is one transaction, so a crash anywhere leaves whole chunks behind. The last look finds nothing to
 * do: what was committed while the chunk before ran is seen by it.
 *
 * A chunk that cannot be read or written back is bisected: it is tried again with half as many customers and operations, until one
 * operation of one customer is at fault, which is set aside with its error. Faults of the database itself go to the job, which is retried.
 */
export async function evaluateEnvironment(
  dependencies: EvaluateDependencies,
  environmentId: number,
  goesOn: () => boolean = () => true,
): Promise<void> {
  const { sql, logger, limits: full = LIMITS } = dependencies;
  let limits = full;
  let tryAgain = false;
  while (tryAgain || goesOn()) {
    tryAgain = false;
    const chunk = new Chunk(dependencies, environmentId, limits);
    try {
      await chunk.run();
      if (chunk.customerIds.length === 0) return;
      limits = smaller(full, { customers: limits.customers * 2, operations: limits.operations * 2 });
    } catch (error) {
      if (!isDataFault(error)) throw error;
      tryAgain = true;
      if (limits.customers > 1 || limits.operations > 1) {
        limits = { customers: half(chunk.customerIds.length || limits.customers), operations: half(limits.operations) };
        continue;
      }
      const [customerId] = chunk.customerIds;
      if (customerId === undefined) throw error; // nobody is known to be at fault
      await setAside(sql, environmentId, customerId, error, logger);
    }
  }
}

function smaller(a: ChunkLimits, b: ChunkLimits): ChunkLimits {
  return { customers: Math.min(a.customers, b.customers), operations: Math.min(a.operations, b.operations) };
}

function half(limit: number): number {
  return Math.max(1, Math.floor(limit / 2));
}

/** SQLSTATE classes that the data of one customer can cause: data exceptions, violated constraints, program limits. */
function isDataFault(error: unknown): boolean {
  return /^(22|23|54)...$/.test((error as { code?: string }).code ?? "");
}

async function setAside(
  sql: Sql | TransactionSql,
  environmentId: number,
  customerId: string,
  error: unknown,
  logger: Logger,
): Promise<void> {
  logger.error({ err: error, environmentId }, "a customer was set aside, because its evaluation failed");
  await setAsideCustomer(sql, environmentId, customerId, String(error));
}

/** A customer to evaluate, and what history was fetched for it. */
type Candidate = Pick<Waiting, "customer" | "state"> & Partial<Pick<Waiting, "history">>;

/** One transaction: take customers, evaluate them, write everything back. */
class Chunk {
  /** Who was taken; known also where the transaction failed. */
  customerIds: string[] = [];
  /** What is committed with the chunk, and when it was read, by the process's clock. */
  #evaluated: { input: EvaluationInput; result: EvaluationResult; readAt: number } | null = null;
  readonly #failed = new Map<string, unknown>();
  /** Whose evaluation needs history that is not at hand yet. */
  #waiting: Waiting[] = [];

  constructor(
    private readonly dependencies: EvaluateDependencies,
    private readonly environmentId: number,
    private readonly limits: ChunkLimits,
  ) {}

  async run(): Promise<void> {
    await this.dependencies.sql.begin((tx) => this.#evaluate(tx));
    this.#count();
  }

  /** After the commit. Of two clocks only the database's tells when something was accepted; the process's tells how long the chunk took. */
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

  async #evaluate(tx: TransactionSql): Promise<void> {
    const { models, settleSeconds, at } = this.dependencies;
    const input = await beginEvaluation(tx, this.environmentId, this.limits, settleSeconds, at ?? null);
    const readAt = performance.now();
    this.customerIds = input.customers.map((customer) => customer.customerId);
    if (input.customers.length === 0) return;
    const model = await models.get(input, (version) => loadSnapshot(tx, input.projectId, version));
    const builder = new EvaluationBuilder(model, input);

    // Condition memory that another version left behind is rebuilt from retained events.
    const outdated: CustomerInput[] = [];
    for (const customer of input.customers) {
      this.#attempt(customer, () => {
        const state = stateOf(customer);
        if (customer.state !== null && !hasMemoryOf(model, state)) outdated.push(customer);
        else this.#add(builder, { customer, state });
      });
    }
    for await (const { customer, events } of historiesOf(tx, this.environmentId, outdated, eventsOf(model))) {
      this.#attempt(customer, () => {
        this.#add(builder, { customer, state: rebuildMemory(model, stateOf(customer), events) });
      });
    }
    while (this.#waiting.length > 0) {
      const waiting = this.#waiting;
      this.#waiting = [];
      await fetchHistory(tx, this.environmentId, waiting);
      for (const one of waiting) this.#attempt(one.customer, () => this.#add(builder, one));
    }

    for (const [customerId, error] of this.#failed) {
      await setAside(tx, this.environmentId, customerId, error, this.dependencies.logger);
    }
    const result = builder.result();
    await applyEvaluation(tx, this.environmentId, input, result);
    this.#evaluated = { input, result, readAt };
  }

  /** Evaluates a customer, from the state that it had before and with what history is at hand, or lets it wait for more of it. */
  #add(builder: EvaluationBuilder, { customer, state, history }: Candidate): void {
    try {
      builder.add(customer, state, history?.source);
    } catch (error) {
      if (!(error instanceof HistoryNeeded)) throw error;
      this.#waiting.push({ customer, state, history: history ?? new HistoryAtHand(), requests: error.requests });
    }
  }

  /** The engine is pure: what it throws for a customer now, it would throw every time. So the customer is set aside at once. */
  #attempt({ customerId }: CustomerInput, evaluate: () => void): void {
    try {
      evaluate();
    } catch (error) {
      this.#failed.set(customerId, error);
    }
  }
}
