import type { Sql, TransactionSql } from "postgres";
import { readRecomputeChunk, type RecomputeCustomer, type RecomputeJob } from "../../db/api/recompute.js";
import { isOfServer, isShutdown, isTakenOver } from "../../db/sqlstate.js";
import { onSnapshot } from "../../db/transaction.js";
import { eventsOf } from "../../evaluation/replayed-events.js";
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
    super(`Customer ${JSON.stringify(customerId)}: ${textOf(cause)}`, { cause });
  }
}

/** What was thrown, in words. */
export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether the server refused what was made of a customer: not that it ended, or that another worker has the job. */
export function isOfCustomer(error: unknown): boolean {
  return isOfServer(error) && !isTakenOver(error) && !isShutdown(error);
}

/** What one chunk holds, about; the numbers bound memory, whatever customers come. */
const CHUNK = { events: 10_000, customersFirst: 10, customersMax: 500, bytes: 16 * 1024 * 1024 };
/** Events of a customer that are replayed at once, and how many runs of rules they may cause, of which each has its explanation. */
const EACH = { max: 2_000, min: 50, runs: 20_000, bytes: 512 * 1024 };

type OnLogs = Parameters<typeof replayLong>[4];

/** The customers of a job: reading them, and replaying each. */
export class JobCustomers {
  readonly #propertyEvents: string[];
  readonly #each: number;

  constructor(
    private readonly sql: Sql,
    private readonly job: RecomputeJob,
    private readonly models: JobModels,
  ) {
    const { replayed, active } = models;
    this.#propertyEvents = [...new Set([...replayed.propertyEvents, ...(active?.propertyEvents ?? [])])];
    const rules = replayed.rules.length + (active?.rules.length ?? 0);
    this.#each = Math.max(EACH.min, Math.min(EACH.max, Math.floor(EACH.runs / (1 + rules))));
  }

  /** All customers that are left, chunk by chunk; while one is worked on the next two are read, one after the other. */
  async *chunks(): AsyncGenerator<RecomputeCustomer[]> {
    let customers = CHUNK.customersFirst;
    const after = async (before: Promise<RecomputeCustomer[]>): Promise<RecomputeCustomer[]> => {
      const chunk = await before;
      const last = chunk.at(-1);
      if (last === undefined) return [];
      const events = chunk.reduce((sum, { events: { seqs } }) => sum + (seqs?.length ?? 0), chunk.length);
      const share = Math.ceil((chunk.length * CHUNK.events) / events);
      // Where fewer came than were asked for, there are no more, or their bytes are the limit.
      customers = Math.min(share, 2 * chunk.length, CHUNK.customersMax);
      return this.#readChunk(last.customerId, customers);
    };
    const ahead: Promise<RecomputeCustomer[]>[] = [];
    const readOn = (reading: Promise<RecomputeCustomer[]>): void => {
      ahead.push(reading);
      // Whoever ends before it is awaited does not leave a failure that nobody hears of.
      reading.catch(() => undefined);
    };
    readOn(this.#readChunk(this.job.lastCustomerId, customers));
    readOn(after(ahead[0]!));
    for (;;) {
      const chunk = await ahead.shift()!;
      if (chunk.length === 0) return;
      readOn(after(ahead[0]!));
      yield chunk;
    }
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
    const [customer] = await readRecomputeChunk(tx, { ...this.job, customerId }, this.#request(null, 1));
    if (customer === undefined) return null;
    const whole = this.whole(customer);
    if (whole !== "long") return whole;
    try {
      const run = new CustomerRun(this.job, this.models, customer);
      await replayLong(tx, this.job, run, this.#request(null, 1), onLogs);
      return run;
    } catch (error) {
      throw error instanceof CustomerFailed || error instanceof TakenOver
        ? error
        : new CustomerFailed(customerId, error);
    }
  }

  /** The same on a snapshot, which can write nothing. */
  onSnapshot(customerId: string, onLogs: OnLogs): Promise<CustomerRun | null> {
    return onSnapshot(this.sql, (tx) => this.anew(tx, customerId, onLogs));
  }

  #readChunk(afterCustomerId: string | null, customers: number): Promise<RecomputeCustomer[]> {
    const read = (sql: Sql | TransactionSql) =>
      readRecomputeChunk(sql, this.job, this.#request(afterCustomerId, customers));
    return this.job.kind === "recompute" ? read(this.sql) : onSnapshot(this.sql, read);
  }

  #request(afterCustomerId: string | null, customers: number): Parameters<typeof readRecomputeChunk>[2] {
    return {
      afterCustomerId,
      customers,
      propertyEvents: this.#propertyEvents,
      each: this.#each,
      bytesEach: EACH.bytes,
      bytes: CHUNK.bytes,
    };
  }
}
