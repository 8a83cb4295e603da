import type { Sql } from "postgres";
import { call } from "../../db/api/call.js";
import type { RecomputeCustomer, RecomputeJob, ResultCounts } from "../../db/api/recompute.js";
import { applyRecomputes, noCounts } from "../../db/api/recompute.js";
import { inTransaction } from "../../db/transaction.js";
import { addCounts } from "./difference.js";
import { CustomerFailed, isOfCustomer, type JobCustomers } from "./job-customers.js";

/** What is to be written of a customer. */
export interface Prepared {
  customerId: string;
  /** About how much memory it takes. */
  bytes: number;
}

/** Where the finds of a job go. */
export interface ResultSink<Customer = RecomputeCustomer, P extends Prepared = Prepared> {
  /** Goes through a customer. */
  prepare(customer: Customer): P | Promise<P>;
  /** Writes customers, in order. */
  write(customers: readonly P[]): Promise<void>;
}

/** What is to be recorded of a customer. */
export interface Found extends Prepared {
  counts: ResultCounts;
  /** `{customerId, weight, difference}`; null where there is nothing. */
  json: string | null;
}

/** Records customers, in order, with the job's progress. */
export async function record(session: Sql, job: RecomputeJob, customers: readonly Found[]): Promise<void> {
  const counts = noCounts();
  for (const found of customers) addCounts(counts, found.counts);
  const last = customers.at(-1)!.customerId;
  const differences = `[${customers.flatMap(({ json }) => json ?? []).join(",")}]`;
  await call(session, "record_recompute_chunk", job, last, customers.length, differences, counts);
}

/** Writes down what a dry run or a preview finds, and nothing else. */
export class RecordSink implements ResultSink<RecomputeCustomer, Found> {
  /** @param onPart is called while a long history is gone through */
  constructor(
    private readonly session: Sql,
    private readonly job: RecomputeJob,
    private readonly customers: JobCustomers,
    private readonly onPart: () => Promise<void>,
  ) {}

  async prepare(customer: RecomputeCustomer): Promise<Found> {
    const { customerId } = customer;
    const whole = this.customers.whole(customer);
    const run = whole === "long" ? await this.customers.onSnapshot(customerId, this.onPart) : whole;
    if (run === null) return { customerId, bytes: 0, counts: noCounts(), json: null };
    const { counts, difference, weight } = run.compared();
    const json = difference === null ? null : JSON.stringify({ customerId, weight, difference });
    return { customerId, bytes: json?.length ?? 0, counts, json };
  }

  write(customers: readonly Found[]): Promise<void> {
    return record(this.session, this.job, customers);
  }
}

interface Ready extends Prepared {
  kind: "ready";
  /** `AppliedCustomer` */
  json: string;
}

/** A long customer is replayed when it is written; one that failed says so when those before it are written. */
type Writable = Ready | (Prepared & { kind: "long" }) | (Prepared & { kind: "failed"; error: unknown });

/** Writes what a recompute finds: each customer in a transaction of its own. */
export class WriteSink implements ResultSink<RecomputeCustomer, Writable> {
  /** How many customers of the job are written. */
  #done: number;

  constructor(
    private readonly session: Sql,
    private readonly job: RecomputeJob,
    private readonly customers: JobCustomers,
  ) {
    this.#done = job.customersDone;
  }

  prepare(customer: RecomputeCustomer): Writable {
    const { customerId } = customer;
    try {
      const run = this.customers.whole(customer);
      if (run === "long") return { customerId, bytes: 0, kind: "long" };
      const json = JSON.stringify(run?.applied() ?? { customerId });
      return { customerId, bytes: json.length, kind: "ready", json };
    } catch (error) {
      return { customerId, bytes: 0, kind: "failed", error };
    }
  }

  async write(customers: readonly Writable[]): Promise<void> {
    for (let from = 0; from < customers.length;) {
      const first = customers[from]!;
      if (first.kind === "failed") throw first.error;
      if (first.kind === "long") {
        if (!(await this.#writeOne(first.customerId, false))) await this.#writeOne(first.customerId, true);
        from++;
        continue;
      }
      const batch: Ready[] = [];
      for (let one = customers[from]; one?.kind === "ready"; one = customers[from + batch.length]) batch.push(one);
      const done = await this.#writeBatch(batch);
      from += done;
      // Somebody evaluated this one since it was read.
      if (done < batch.length) await this.#writeOne(customers[from++]!.customerId, true);
    }
  }

  /** Writes customers one after another, until one turns out to have changed; answers how many were written. */
  async #writeBatch(batch: readonly Ready[]): Promise<number> {
    const { session, job } = this;
    try {
      const texts = batch.map(({ json }) => json);
      const done = await applyRecomputes(session, job, texts);
      this.#done += done;
      return done;
    } catch (error) {
      if (!isOfCustomer(error)) throw error;
      const done = await call(session, "touch_recompute", job);
      const failed = done === null ? undefined : batch[done - this.#done];
      throw failed === undefined ? error : new CustomerFailed(failed.customerId, error);
    }
  }

  /**
   * Writes one customer, which is read anew, in one transaction; answers whether it was written.
   *
   * @param lock holds the customer meanwhile, so that nobody can change it; otherwise it is not written where somebody did
   */
  async #writeOne(customerId: string, lock: boolean): Promise<boolean> {
    const { session, job, customers } = this;
    try {
      await inTransaction(session, "isolation level read committed", async (tx) => {
        if (lock) await call(tx, "lock_customer", job.environmentId, customerId);
        const run = await customers.anew(tx, customerId, (logs) => call(tx, "append_recompute_logs", job, logs));
        const outcome = await call(tx, "apply_recompute", job, run?.applied() ?? { customerId });
        // What was written of the logs goes with the transaction; also where the customer was erased meanwhile.
        if (outcome === "changed" || (outcome === "gone" && run !== null)) throw new Changed();
      });
    } catch (error) {
      if (error instanceof Changed) return false;
      throw isOfCustomer(error) ? new CustomerFailed(customerId, error) : error;
    }
    this.#done++;
    return true;
  }
}

/** Ends a transaction in which a customer turned out to be another one than was read. */
class Changed extends Error {}
