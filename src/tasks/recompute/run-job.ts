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
import { inTransaction, onSnapshot } from "../../db/transaction.js";
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

interface ReadyCustomer {
  customerId: string;
  kind: "ready";
  /** `AppliedCustomer` */
  json: string;
}

/** A customer of a chunk; a long one has a history that is not to be replayed at once. */
type Prepared =
  ReadyCustomer | { customerId: string; kind: "long" } | { customerId: string; kind: "failed"; error: unknown };

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
  const run = new JobRun(dependencies, job, await modelsOf(dependencies, job));
  // While one chunk is written, the next one is replayed and the one after that is read.
  let writing = Promise.resolve();
  for await (const chunk of run.chunks()) {
    const write = await (job.kind === "recompute" ? run.prepareWriting(chunk) : run.prepareRecord(chunk));
    await writing;
    writing = write().then(() => run.touch());
    // Whoever ends before it is awaited does not leave a failure that nobody hears of.
    writing.catch(() => undefined);
    if (goesOn()) continue;
    await writing;
    return false;
  }
  await writing;
  await finishRecompute(dependencies.session, job);
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
  /** How many customers of the job are written. */
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

  /** The customers of the job; while one chunk is worked on the next two are read, one after the other. */
  async *chunks(): AsyncGenerator<RecomputeCustomer[]> {
    let customers = CHUNK.customersMin;
    const after = async (before: Promise<RecomputeCustomer[]>): Promise<RecomputeCustomer[]> => {
      const chunk = await before;
      const last = chunk.at(-1);
      if (last === undefined) return [];
      const events = chunk.reduce((sum, { events: { seqs } }) => sum + (seqs?.length ?? 0), chunk.length);
      const share = Math.round((chunk.length * CHUNK.events) / events);
      customers = Math.min(Math.max(share, CHUNK.customersMin), 2 * customers, CHUNK.customersMax);
      return this.#read(last.customerId, customers);
    };
    const ahead: Promise<RecomputeCustomer[]>[] = [];
    const readOn = (reading: Promise<RecomputeCustomer[]>): void => {
      ahead.push(reading);
      // Whoever ends before it is awaited does not leave a failure that nobody hears of.
      reading.catch(() => undefined);
    };
    readOn(this.#read(this.job.lastCustomerId, customers));
    readOn(after(ahead[0]!));
    for (;;) {
      const chunk = await ahead.shift()!;
      if (chunk.length === 0) return;
      readOn(after(ahead[0]!));
      yield chunk;
    }
  }

  /** Replays customers; what is returned writes each in a transaction of its own, in order, up to one that cannot be replayed. */
  async prepareWriting(chunk: readonly RecomputeCustomer[]): Promise<() => Promise<void>> {
    const prepared: Prepared[] = [];
    for (const customer of chunk) {
      const { customerId } = customer;
      await this.#yield();
      if (isLong(customer)) {
        prepared.push({ customerId, kind: "long" });
        continue;
      }
      try {
        const applied = attempt(customerId, () => this.#whole(customer)?.applied() ?? { customerId });
        prepared.push({ customerId, kind: "ready", json: JSON.stringify(applied) });
      } catch (error) {
        prepared.push({ customerId, kind: "failed", error });
        break;
      }
    }
    return () => this.#write(prepared);
  }

  /** Replays customers; what is returned writes down what was found of them. */
  async prepareRecord(chunk: readonly RecomputeCustomer[]): Promise<() => Promise<void>> {
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
    const found = { lastCustomerId, done: chunk.length, differences, counts };
    return () => recordRecomputeChunk(this.dependencies.session, this.job, found);
  }

  /** @throws {TakenOver} where another worker has the job by now */
  async touch(): Promise<void> {
    this.#touchedAt = performance.now();
    const done = await touchRecompute(this.dependencies.session, this.job);
    if (done === null) throw new TakenOver("another worker has the job");
  }

  async #write(prepared: readonly Prepared[]): Promise<void> {
    for (let from = 0; from < prepared.length;) {
      const first = prepared[from]!;
      if (first.kind === "failed") throw first.error;
      if (first.kind === "long") {
        if (!(await this.#writeOne(first.customerId, false))) await this.#writeOne(first.customerId, true);
        from++;
        continue;
      }
      const batch: ReadyCustomer[] = [];
      for (let one = prepared[from]; one?.kind === "ready"; one = prepared[from + batch.length]) batch.push(one);
      const done = await this.#writeBatch(batch);
      from += done;
      // Somebody evaluated this one since it was read.
      if (done < batch.length) await this.#writeOne(prepared[from++]!.customerId, true);
    }
  }

  /** Writes customers one after another, until one turns out to have changed; answers how many were written. */
  async #writeBatch(batch: readonly ReadyCustomer[]): Promise<number> {
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
    return inTransaction(this.dependencies.session, "isolation level read committed", async (tx) => {
      if (lock) await lockCustomer(tx, job.environmentId, customerId);
      const run = await this.#replayOne(tx, customerId, (logs) => appendRecomputeLogs(tx, job, logs));
      const outcome = await applyRecompute(tx, job, run?.applied() ?? { customerId });
      if (outcome === "changed") throw new Changed();
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
