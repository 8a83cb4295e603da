import type { Sql, TransactionSql } from "postgres";
import { readRecomputeChunk, type RecomputeCustomer, type RecomputeJob } from "../../db/api/recompute.js";
import { isAway, isOfServer, isShutdown, isTakenOver } from "../../db/sqlstate.js";
import { onSnapshot } from "../../db/transaction.js";
import { eventsOf } from "../../evaluation/replayed-events.js";
import { inChunks, limitsFor } from "./chunks.js";
import { CustomerRun, type JobModels } from "./customer-run.js";
import { replayLong } from "./long-customer.js";

/** Somebody else has the job by now. */
export class TakenOver extends Error {
  override readonly name = "TakenOver";
}

/** What failed, and for whom. */
export class CustomerFailed extends Error {
  override readonly name = "CustomerFailed";

  constructor(customerId: string, cause: unknown) {
    super(`Customer ${JSON.stringify(customerId)}: ${errorText(cause)}`, { cause });
  }
}

/** What failed while a customer was worked on, unless that is not the customer's failure. */
export function customerFailure(customerId: string, error: unknown): Error {
  if (error instanceof CustomerFailed || error instanceof TakenOver) return error;
  return error instanceof Error && isAway(error) ? error : new CustomerFailed(customerId, error);
}

/** What was thrown, in words. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether the server refused what was made of a customer: not that it, or a node, is gone, or that another worker has the job. */
export function isOfCustomer(error: unknown): boolean {
  return isOfServer(error) && !isTakenOver(error) && !isShutdown(error) && !isAway(error);
}

type OnLogs = Parameters<typeof replayLong>[4];

/** The customers of a job: reading them, and replaying each. */
export class JobCustomers {
  readonly #limits: ReturnType<typeof limitsFor>;

  constructor(
    private readonly sql: Sql,
    private readonly job: RecomputeJob,
    private readonly models: JobModels,
  ) {
    this.#limits = limitsFor([models.replayed, ...(models.active === null ? [] : [models.active])]);
  }

  /** All customers that are left, chunk by chunk, each as JSON: `RecomputeCustomer`. */
  chunks(): AsyncGenerator<string[]> {
    return inChunks(this.job.lastCustomerId, (afterCustomerId, customers) =>
      readRecomputeChunk(this.sql, this.job, { ...this.#limits, afterCustomerId, customers }),
    );
  }

  /**
   * The replay of a customer whose history is at hand; null where nothing of it was ever evaluated, `long` where it is not to be gone through
   * at once.
   *
   * @throws {CustomerFailed}
   */
  whole(customer: RecomputeCustomer): CustomerRun | null | "long" {
    if (customer.state === null) return null;
    if (customer.moreEvents || customer.moreExecutions) return "long";
    try {
      const run = new CustomerRun(this.job, this.models, customer);
      return run.whole(eventsOf(customer.events), customer.executions ?? []) ? run : "long";
    } catch (error) {
      throw new CustomerFailed(customer.customerId, error);
    }
  }

  /**
   * The replay of a customer that is read now, however long its history is; null where there is nothing to replay.
   *
   * @param onLogs takes the logs' rows of a long history, part by part
   * @throws {CustomerFailed}
   */
  async anew(tx: TransactionSql, customerId: string, onLogs: OnLogs): Promise<CustomerRun | null> {
    const [text] = await readRecomputeChunk(
      tx,
      { ...this.job, customerId },
      { ...this.#limits, afterCustomerId: null, customers: 1 },
    );
    if (text === undefined) return null;
    const customer = JSON.parse(text) as RecomputeCustomer;
    const whole = this.whole(customer);
    if (whole !== "long") return whole;
    try {
      const run = new CustomerRun(this.job, this.models, customer);
      await replayLong(tx, this.job, run, this.#limits, onLogs);
      return run;
    } catch (error) {
      throw customerFailure(customerId, error);
    }
  }

  /** The same on a snapshot, which can write nothing. */
  onSnapshot(customerId: string, onLogs: OnLogs): Promise<CustomerRun | null> {
    return onSnapshot(this.sql, (tx) => this.anew(tx, customerId, onLogs));
  }
}
