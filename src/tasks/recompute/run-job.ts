import { setImmediate as nextTurn } from "node:timers/promises";
import postgres, { type Sql, type TransactionSql } from "postgres";
import { loadSnapshot } from "../../db/calls-evaluation.js";
import {
  appendRecomputeLogs,
  applyRecompute,
  applyRecomputes,
  finishRecompute,
  lockCustomer,
  readRecomputeChunk,
  recordRecomputeChunk,
  touchRecompute,
  type RecomputeCustomer,
  type RecomputeJob,
} from "../../db/calls-recompute.js";
import { onSnapshot } from "../../db/snapshot-transaction.js";
import type { Models } from "../../evaluation/models.js";
import { eventsOf } from "./customer-replay.js";
import { CustomerRun, type JobModels } from "./customer-run.js";
import { addCounts, noCounts } from "./difference.js";
import { replayLong } from "./long-customer.js";

export interface RunDependencies {
  /** The connection that holds the job. Everything is written on it. */
  session: Sql;
  /** For reading. */
  sql: Sql;
  models: Models;
}

/** What one chunk holds, about; the numbers bound memory, whatever customers come. */
const CHUNK = { events: 10_000, customersMin: 10, customersMax: 500, each: 2_000, bytes: 16 * 1024 * 1024 };
/** While nothing is written: how often the job is touched. */
const TOUCH_MS = 5_000;
/** Of synchronous work, before whatever else the process does gets its turn. */
const TURN_MS = 10;

/** Somebody else has the job by now. */
export class TakenOver extends Error {
  override readonly name = "TakenOver";
}

/** What failed, and for whom. */
export class CustomerFailed extends Error {
  override readonly name = "CustomerFailed";

  constructor(customerId: string, cause: unknown) {
    super(`Customer ${JSON.stringify(customerId)}: ${cause instanceof Error ? cause.message : String(cause)}`, {
      cause,
    });
  }
}

/**
 * Does an attempt at a job, from where the attempt before ended, and answers whether it came to the end.
 *
 * @param goesOn asked after each chunk
 * @throws {TakenOver} where another worker has it by now
 */
export async function runJob(
  dependencies: RunDependencies,
  job: RecomputeJob,
  goesOn: () => boolean,
): Promise<boolean> {
  const { session } = dependencies;
  const run = new JobRun(dependencies, job, await modelsOf(dependencies, job));
  for await (const chunk of run.chunks()) {
    await (job.kind === "recompute" ? run.write(chunk) : run.record(chunk));
    await run.touch();
    if (!goesOn()) return false;
  }
  await finishRecompute(session, job);
  return true;
}

async function modelsOf({ sql, models }: RunDependencies, job: RecomputeJob): Promise<JobModels> {
  const pinned = await models.get(job, (version) => loadSnapshot(sql, job.projectId, version));
  if (job.kind !== "preview") return { replayed: pinned, active: null };
  return {
    replayed: await models.of(job.snapshotHash!, "the snapshot of the preview", () => Promise.resolve(job.snapshot)),
    active: pinned,
  };
}

class JobRun {
  readonly #propertyEvents: string[];
  /** Of all customers of the job. */
  #done: number;
  #touchedAt = performance.now();
  #turnBegan = performance.now();

  constructor(
    private readonly dependencies: RunDependencies,
    private readonly job: RecomputeJob,
    private readonly models: JobModels,
  ) {
    this.#done = job.customersDone;
    const { replayed, active } = models;
    this.#propertyEvents = [...new Set([...replayed.propertyEvents, ...(active?.propertyEvents ?? [])])];
  }

  /** The customers of the job; the next chunk is read while one is worked on. */
  async *chunks(): AsyncGenerator<RecomputeCustomer[]> {
    let customers = CHUNK.customersMin;
    let reading = this.#read(this.job.lastCustomerId, customers);
    for (;;) {
      const chunk = await reading;
      const last = chunk.at(-1);
      if (last === undefined) return;
      const events = chunk.reduce((sum, { events: { seqs } }) => sum + (seqs?.length ?? 0), chunk.length);
      const share = Math.round((chunk.length * CHUNK.events) / events);
      customers = Math.min(Math.max(share, CHUNK.customersMin), 2 * customers, CHUNK.customersMax);
      reading = this.#read(last.customerId, customers);
      // Whoever ends before it is awaited does not leave a failure that nobody hears of.
      reading.catch(() => undefined);
      yield chunk;
    }
  }

  /** Writes what is found of each customer in a transaction of its own, in order. */
  async write(chunk: readonly RecomputeCustomer[]): Promise<void> {
    let batch: { customerId: string; json: string }[] = [];
    const flush = async (): Promise<void> => {
      while (batch.length > 0) {
        const done = await this.#writeBatch(batch);
        // Somebody evaluated this one since it was read.
        if (done < batch.length) await this.#writeOne(batch[done]!.customerId, true);
        batch = batch.slice(done + 1);
      }
    };
    for (const customer of chunk) {
      const { customerId } = customer;
      if (isLong(customer)) {
        await flush();
        if (!(await this.#writeOne(customerId, false))) await this.#writeOne(customerId, true);
        continue;
      }
      await this.#yield();
      try {
        const applied = attempt(customerId, () => this.#whole(customer)?.applied() ?? { customerId });
        batch.push({ customerId, json: JSON.stringify(applied) });
      } catch (error) {
        // Those before it are not to be done again each time.
        await flush();
        throw error;
      }
    }
    await flush();
  }

  /** Writes customers one after another, until one turns out to have changed; answers how many were written. */
  async #writeBatch(batch: readonly { customerId: string; json: string }[]): Promise<number> {
    const { session } = this.dependencies;
    try {
      const done = await applyRecomputes(
        session,
        this.job,
        batch.map(({ json }) => json),
      );
      this.#done += done;
      return done;
    } catch (error) {
      if (!isOfCustomer(error)) throw error;
      const done = await touchRecompute(session, this.job);
      const failed = done === null ? undefined : batch[done - this.#done];
      throw failed === undefined ? error : new CustomerFailed(failed.customerId, error);
    }
  }

  /** Writes down what is found of the customers. */
  async record(chunk: readonly RecomputeCustomer[]): Promise<void> {
    const counts = noCounts();
    const differences: string[] = [];
    for (const customer of chunk) {
      await this.#yield();
      const run = isLong(customer) ? await this.#readLong(customer.customerId) : this.#whole(customer);
      if (run === null) continue;
      const compared = attempt(customer.customerId, () => run.compared());
      addCounts(counts, compared.counts);
      const { difference, weight } = compared;
      if (difference !== null)
        differences.push(JSON.stringify({ customerId: customer.customerId, weight, difference }));
    }
    const lastCustomerId = chunk.at(-1)!.customerId;
    await recordRecomputeChunk(this.dependencies.session, this.job, {
      lastCustomerId,
      done: chunk.length,
      differences,
      counts,
    });
  }

  /** @throws {TakenOver} where another worker has the job by now */
  async touch(): Promise<void> {
    this.#touchedAt = performance.now();
    const done = await touchRecompute(this.dependencies.session, this.job);
    if (done === null) throw new TakenOver("another worker has the job");
  }

  /** The replay of a customer whose history is at hand; null where nothing of it was ever evaluated. */
  #whole(customer: RecomputeCustomer): CustomerRun | null {
    if (customer.state === null) return null;
    return attempt(customer.customerId, () => {
      const run = new CustomerRun(this.job, this.models, customer);
      run.whole(eventsOf(customer.events), customer.executions ?? []);
      return run;
    });
  }

  /**
   * Writes one customer, which is read anew, in one transaction; answers whether it was written.
   *
   * @param lock holds the customer meanwhile, so that nobody can change it; otherwise it is not written where somebody did
   */
  async #writeOne(customerId: string, lock: boolean): Promise<boolean> {
    const { job } = this;
    return this.dependencies.session
      .begin(async (tx) => {
        if (lock) await lockCustomer(tx, job.environmentId, customerId);
        const run = await this.#replayOne(tx, customerId, (logs) => appendRecomputeLogs(tx, job, logs));
        const outcome = await applyRecompute(tx, job, run?.applied() ?? { customerId });
        if (outcome === "changed") throw new Changed();
        return true;
      })
      .then(() => {
        this.#done += 1;
        return true;
      })
      .catch((error: unknown) => {
        if (error instanceof Changed) return false;
        throw isOfCustomer(error) ? new CustomerFailed(customerId, error) : error;
      });
  }

  async #readLong(customerId: string): Promise<CustomerRun | null> {
    return onSnapshot(this.dependencies.sql, (tx) => this.#replayOne(tx, customerId, () => this.#touchInTime()));
  }

  /** The replay of a customer that is read now, however long its history is; null where there is nothing to replay. */
  async #replayOne(
    tx: TransactionSql,
    customerId: string,
    onLogs: Parameters<typeof replayLong>[4],
  ): Promise<CustomerRun | null> {
    const [customer] = await readRecomputeChunk(
      tx,
      { ...this.job, customerId },
      { ...this.#request(null, 1), each: CHUNK.each },
    );
    if (customer === undefined) return null;
    if (!isLong(customer)) return this.#whole(customer);
    const run = new CustomerRun(this.job, this.models, customer);
    try {
      await replayLong(tx, this.job, run, this.#propertyEvents, onLogs);
    } catch (error) {
      throw isOurs(error) ? error : new CustomerFailed(customerId, error);
    }
    return run;
  }

  #read(afterCustomerId: string | null, customers: number): Promise<RecomputeCustomer[]> {
    const { job, dependencies } = this;
    const read = (sql: Sql | TransactionSql) => readRecomputeChunk(sql, job, this.#request(afterCustomerId, customers));
    return job.kind === "recompute" ? read(dependencies.sql) : onSnapshot(dependencies.sql, read);
  }

  #request(afterCustomerId: string | null, customers: number): Parameters<typeof readRecomputeChunk>[2] {
    return { afterCustomerId, customers, propertyEvents: this.#propertyEvents, each: CHUNK.each, bytes: CHUNK.bytes };
  }

  async #touchInTime(): Promise<void> {
    if (performance.now() - this.#touchedAt > TOUCH_MS) await this.touch();
  }

  async #yield(): Promise<void> {
    if (performance.now() - this.#turnBegan < TURN_MS) return;
    await nextTurn();
    this.#turnBegan = performance.now();
  }
}

/** Ends a transaction in which a customer turned out to be another one than was read. */
class Changed extends Error {}

function isLong({ moreEvents, moreExecutions }: RecomputeCustomer): boolean {
  return moreEvents || moreExecutions;
}

function attempt<T>(customerId: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw isOurs(error) ? error : new CustomerFailed(customerId, error);
  }
}

/** Whether the server refused what was made of a customer: not that it ended, or that another worker has the job. */
function isOfCustomer(error: unknown): boolean {
  return error instanceof postgres.PostgresError && !/^(SV011|57P..)$/.test(error.code);
}

function isOurs(error: unknown): boolean {
  return error instanceof CustomerFailed || error instanceof TakenOver;
}
