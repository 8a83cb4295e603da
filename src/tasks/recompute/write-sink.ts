import type { Sql } from "postgres";
import {
  appendRecomputeLogs,
  applyRecompute,
  applyRecomputes,
  lockCustomer,
  touchRecompute,
  type RecomputeCustomer,
  type RecomputeJob,
} from "../../db/api/recompute.js";
import { inTransaction } from "../../db/transaction.js";
import { CustomerFailed, isOfCustomer } from "./failures.js";
import type { JobCustomers } from "./job-customers.js";
import type { ResultSink, Prepared } from "./record-sink.js";

interface Ready extends Prepared {
  kind: "ready";
  /** `AppliedCustomer` */
  json: string;
}

/** A long customer is replayed when it is written; one that failed says so when those before it are written. */
type Writable = Ready | (Prepared & { kind: "long" }) | (Prepared & { kind: "failed"; error: unknown });

/** Writes what a recompute finds: each customer in a transaction of its own. */
export class WriteSink implements ResultSink<Writable> {
  /** How many customers of the job are written. */
  #done: number;

  constructor(
    private readonly session: Sql,
    private readonly job: RecomputeJob,
    private readonly customers: JobCustomers,
  ) {
    this.#done = job.customersDone;
  }

  prepare(customer: RecomputeCustomer): Promise<Writable> {
    return Promise.resolve(this.#prepared(customer));
  }

  #prepared(customer: RecomputeCustomer): Writable {
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
      const done = await applyRecomputes(
        session,
        job,
        batch.map(({ json }) => json),
      );
      this.#done += done;
      return done;
    } catch (error) {
      if (!isOfCustomer(error)) throw error;
      const done = await touchRecompute(session, job);
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
        if (lock) await lockCustomer(tx, job.environmentId, customerId);
        const run = await customers.anew(tx, customerId, (logs) => appendRecomputeLogs(tx, job, logs));
        const outcome = await applyRecompute(tx, job, run?.applied() ?? { customerId });
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
