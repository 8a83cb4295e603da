import type { Sql, TransactionSql } from "postgres";
import { readRecomputeChunk, type RecomputeCustomer, type RecomputeJob } from "../../db/api/recompute.js";
import { isUnreachable, isServerError, isShutdown, isJobTakenOver } from "../../db/sqlstate.js";
import { onSnapshot } from "../../db/transaction.js";
import { eventsOf } from "../../evaluation/replayed-events.js";
import { inChunks, limitsFor } from "./chunks.js";
import { CustomerRun, type JobModels } from "./customer-run.js";
import { replayLong } from "./long-customer.js";

/** Another worker has taken the job over. */
export class TakenOver extends Error {
  override readonly name = "TakenOver";
}

/** A customer that cannot be replayed or written; names the customer. */
export class CustomerFailed extends Error {
  override readonly name = "CustomerFailed";

  constructor(customerId: string, cause: unknown) {
    super(`Customer ${JSON.stringify(customerId)}: ${errorText(cause)}`, { cause });
  }
}

/** An error during work on a customer as `CustomerFailed`, unless the customer is not the cause. */
export function customerFailure(customerId: string, error: unknown): Error {
  if (error instanceof CustomerFailed || error instanceof TakenOver) return error;
  return error instanceof Error && isUnreachable(error) ? error : new CustomerFailed(customerId, error);
}

export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether the server rejected the data of a customer; false if it or a node is gone, or another worker has the job. */
export function isCustomerError(error: unknown): boolean {
  return isServerError(error) && !isJobTakenOver(error) && !isShutdown(error) && !isUnreachable(error);
}

type OnLogs = Parameters<typeof replayLong>[4];

/** Reads and replays the customers of a job. */
export class JobCustomers {
  readonly #limits: ReturnType<typeof limitsFor>;

  constructor(
    private readonly sql: Sql,
    private readonly job: RecomputeJob,
    private readonly models: JobModels,
  ) {
    this.#limits = limitsFor([models.replayed, ...(models.active === null ? [] : [models.active])]);
  }

  /** All remaining customers, chunk by chunk, each as JSON: `RecomputeCustomer`. */
  chunks(): AsyncGenerator<string[]> {
    return inChunks(this.job.lastCustomerId, (afterCustomerId, customers) =>
      readRecomputeChunk(this.sql, this.job, { ...this.#limits, afterCustomerId, customers }),
    );
  }

  /**
   * Replays a customer with the history that was read; null if it was never evaluated, `long` if its history is too long to be replayed
   * at once.
   *
   * @throws {CustomerFailed}
   */
  replayAtOnce(customer: RecomputeCustomer): CustomerRun | null | "long" {
    if (customer.state === null) return null;
    if (customer.moreEvents || customer.moreExecutions) return "long";
    try {
      const run = new CustomerRun(this.job, this.models, customer);
      return run.replayAll(eventsOf(customer.events), customer.executions ?? []) ? run : "long";
    } catch (error) {
      throw new CustomerFailed(customer.customerId, error);
    }
  }

  /**
   * Reads a customer anew and replays it, however long its history is; null if there is nothing to replay.
   *
   * @param onLogs receives the logs' rows of a long history, part by part
   * @throws {CustomerFailed}
   */
  async readAndReplay(tx: TransactionSql, customerId: string, onLogs: OnLogs): Promise<CustomerRun | null> {
    const [text] = await readRecomputeChunk(
      tx,
      { ...this.job, customerId },
      { ...this.#limits, afterCustomerId: null, customers: 1 },
    );
    if (text === undefined) return null;
    const customer = JSON.parse(text) as RecomputeCustomer;
    const result = this.replayAtOnce(customer);
    if (result !== "long") return result;
    try {
      const run = new CustomerRun(this.job, this.models, customer);
      await replayLong(tx, this.job, run, this.#limits, onLogs);
      return run;
    } catch (error) {
      throw customerFailure(customerId, error);
    }
  }

  /** As `readAndReplay`, in a read-only transaction with one snapshot. */
  onSnapshot(customerId: string, onLogs: OnLogs): Promise<CustomerRun | null> {
    return onSnapshot(this.sql, (tx) => this.readAndReplay(tx, customerId, onLogs));
  }
}
