import type { Logger } from "pino";
import type { Sql, TransactionSql } from "postgres";
import {
  applyEvaluation,
  beginEvaluation,
  loadHistory,
  setAsideCustomer,
  type ChunkLimits,
  type CustomerInput,
  type EvaluationInput,
} from "../db/calls-evaluation.js";
import { rebuildMemory, type CustomerState, type HistoryEvent, type Model } from "../engine/index.js";
import { EvaluationBuilder, stateOf } from "./evaluation-result.js";
import type { Models } from "./models.js";

export interface EvaluateDependencies {
  sql: Sql;
  models: Models;
  settleSeconds: number;
  logger: Logger;
}

const LIMITS: ChunkLimits = { customers: 500, operations: 5_000 };

/**
 * Evaluates an environment until nothing of it waits or is due. Each chunk of customers is one transaction, so a crash anywhere leaves
 * whole chunks behind. The last look finds nothing to do: what was committed while the chunk before ran is seen by it.
 *
 * A chunk that cannot be written back is bisected: it is tried again with half as many customers, until the one at fault is alone and is
 * set aside with its error. Faults of the database itself go to the job, which is retried.
 */
export async function evaluateEnvironment(dependencies: EvaluateDependencies, environmentId: number): Promise<void> {
  let customers = LIMITS.customers;
  for (;;) {
    const chunk = new Chunk(dependencies, environmentId, { ...LIMITS, customers });
    try {
      await chunk.run();
      if (chunk.customerIds.length === 0) return;
      customers = Math.min(LIMITS.customers, customers * 2);
    } catch (error) {
      if (!isDataFault(error) || chunk.customerIds.length === 0) throw error;
      const [only, ...others] = chunk.customerIds;
      if (only !== undefined && others.length === 0) await setAside(dependencies, environmentId, only, error);
      customers = Math.max(1, Math.floor(chunk.customerIds.length / 2));
    }
  }
}

/** SQLSTATE classes that the data of one customer can cause: data exceptions, violated constraints, program limits. */
function isDataFault(error: unknown): boolean {
  return /^(22|23|54)/.test((error as { code?: string }).code ?? "");
}

async function setAside(
  { sql, logger }: EvaluateDependencies,
  environmentId: number,
  customerId: string,
  error: unknown,
): Promise<void> {
  logger.error({ err: error, environmentId }, "a customer was set aside, because its evaluation cannot be written back");
  await setAsideCustomer(sql, environmentId, customerId, String(error));
}

/** One transaction: take customers, evaluate them, write everything back. */
class Chunk {
  /** Who was taken; known also where the transaction failed. */
  customerIds: string[] = [];

  constructor(
    private readonly dependencies: EvaluateDependencies,
    private readonly environmentId: number,
    private readonly limits: ChunkLimits,
  ) {}

  async run(): Promise<void> {
    const { sql, models, settleSeconds } = this.dependencies;
    await sql.begin(async (tx) => {
      const input = await beginEvaluation(tx, this.environmentId, this.limits, settleSeconds);
      this.customerIds = input.customers.map((customer) => customer.customerId);
      if (input.customers.length === 0) return;
      const model = await models.get(tx, input);
      const states = await statesUnder(tx, this.environmentId, model, input);
      const builder = new EvaluationBuilder(model, input);
      for (const customer of input.customers) {
        try {
          builder.add(customer, states.get(customer.customerId) ?? stateOf(customer));
        } catch (error) {
          // The engine is pure: what it throws for a customer now, it would throw every time.
          this.dependencies.logger.error({ err: error, environmentId: this.environmentId }, "a customer was set aside");
          await setAsideCustomer(tx, this.environmentId, customer.customerId, String(error));
        }
      }
      await applyEvaluation(tx, this.environmentId, input.version, builder.result());
    });
  }
}

/** States whose condition memory another version left behind, with memory rebuilt from retained events. */
async function statesUnder(
  tx: TransactionSql,
  environmentId: number,
  model: Model,
  input: EvaluationInput,
): Promise<Map<string, CustomerState>> {
  const outdated = new Map<string, CustomerInput>();
  for (const customer of input.customers) {
    if (customer.state !== null && customer.state.memory.model !== model.hash) outdated.set(customer.customerId, customer);
  }
  const states = new Map<string, CustomerState>();
  if (outdated.size === 0) return states;

  let current: { customer: CustomerInput; events: HistoryEvent[] } | undefined;
  const rebuild = () => {
    if (!current) return;
    const { customer, events } = current;
    states.set(customer.customerId, rebuildMemory(model, stateOf(customer), events));
    outdated.delete(customer.customerId);
  };
  for await (const row of loadHistory(tx, environmentId, [...outdated.keys()], [...model.streamsOf.keys()])) {
    if (current?.customer.customerId !== row.customerId) {
      rebuild();
      const customer = outdated.get(row.customerId);
      current = customer && { customer, events: [] };
    }
    current?.events.push(row);
  }
  rebuild();
  for (const customer of outdated.values()) {
    states.set(customer.customerId, rebuildMemory(model, stateOf(customer), []));
  }
  return states;
}
