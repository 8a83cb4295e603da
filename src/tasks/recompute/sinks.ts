import type { Sql } from "postgres";
import { call } from "../../db/api/call.js";
import type { RecomputeCustomer, RecomputeJob, ResultCounts } from "../../db/api/recompute.js";
import { applyReplays, noCounts } from "../../db/api/recompute.js";
import { inTransaction } from "../../db/transaction.js";
import { addCounts } from "./difference.js";
import { CustomerFailed, isCustomerError, type JobCustomers } from "./job-customers.js";

/** A customer's results, ready to be written. */
export interface Prepared {
  customerId: string;
  /** Approximate size in memory. */
  bytes: number;
}

/** Destination of a job's results. */
export interface ResultSink<Customer = RecomputeCustomer, P extends Prepared = Prepared> {
  /** Computes a customer's results. */
  prepare(customer: Customer): P | Promise<P>;
  /** Writes customers, in order. */
  write(customers: readonly P[]): Promise<void>;
}

/** A customer's results to be recorded. */
export interface RecordedCustomer extends Prepared {
  counts: ResultCounts;
  /** `{customerId, weight, difference}`; null if there is no difference. */
  json: string | null;
}

/** Records customers, in order, with the job's progress. */
export async function recordCustomers(
  session: Sql,
  job: RecomputeJob,
  customers: readonly RecordedCustomer[],
): Promise<void> {
  const counts = noCounts();
  for (const found of customers) addCounts(counts, found.counts);
  const last = customers.at(-1)!.customerId;
  const differences = `[${customers.flatMap(({ json }) => json ?? []).join(",")}]`;
  await call(session, "record_recompute_chunk", job, last, customers.length, differences, counts);
}

/** Records the results of a dry run or a preview, and writes nothing else. */
export class RecordSink implements ResultSink<RecomputeCustomer, RecordedCustomer> {
  /** @param onPart called after each part of a long history */
  constructor(
    private readonly session: Sql,
    private readonly job: RecomputeJob,
    private readonly customers: JobCustomers,
    private readonly onPart: () => Promise<void>,
  ) {}

  async prepare(customer: RecomputeCustomer): Promise<RecordedCustomer> {
    const { customerId } = customer;
    const result = this.customers.replayAtOnce(customer);
    const run = result === "long" ? await this.customers.onSnapshot(customerId, this.onPart) : result;
    if (run === null) return { customerId, bytes: 0, counts: noCounts(), json: null };
    const { counts, difference, weight } = run.compared();
    const json = difference === null ? null : JSON.stringify({ customerId, weight, difference });
    return { customerId, bytes: json?.length ?? 0, counts, json };
  }

  write(customers: readonly RecordedCustomer[]): Promise<void> {
    return recordCustomers(this.session, this.job, customers);
  }
}

interface Ready extends Prepared {
  kind: "ready";
  /** `AppliedCustomer` without its state, which is separate because it is long, and parsed once there. */
  json: string;
  state: string;
}

/** A customer with a long history is replayed when it is written; an error is thrown once the customers before are written. */
type Writable = Ready | (Prepared & { kind: "long" }) | (Prepared & { kind: "failed"; error: unknown });

/** Writes the results of a recompute, each customer in a separate transaction. */
export class WriteSink implements ResultSink<RecomputeCustomer, Writable> {
  /** How many customers of the job are written, by all attempts. */
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
      const run = this.customers.replayAtOnce(customer);
      if (run === "long") return { customerId, bytes: 0, kind: "long" };
      const { state, ...others } = run?.applied() ?? { customerId, state: null };
      const ready = { json: JSON.stringify(others), state: JSON.stringify(state) };
      return { customerId, bytes: ready.json.length + ready.state.length, kind: "ready", ...ready };
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
      // The customer was evaluated after it was read, or cannot be written; which of them it is shows when it is written alone.
      if (done < batch.length) await this.#writeOne(customers[from++]!.customerId, true);
    }
  }

  /** Writes customers in order until one turns out to have changed or cannot be written; returns how many were written. */
  async #writeBatch(batch: readonly Ready[]): Promise<number> {
    const { session, job } = this;
    let done: number;
    try {
      const customers = batch.map(({ json }) => json);
      const states = batch.map(({ state }) => state);
      done = await applyReplays(session, job, { customers, states });
    } catch (error) {
      if (!isCustomerError(error)) throw error;
      const total = await call(session, "touch_recompute", job);
      done = (total ?? Infinity) - this.#done;
      if (!(done < batch.length)) throw error;
    }
    this.#done += done;
    return done;
  }

  /**
   * Reads, replays and writes one customer in one transaction; returns whether it was written.
   *
   * @param lock locks the customer meanwhile, so that it cannot change; without it a customer that changed meanwhile is not written
   */
  async #writeOne(customerId: string, lock: boolean): Promise<boolean> {
    const { session, job, customers } = this;
    try {
      await inTransaction(session, "isolation level read committed", async (tx) => {
        if (lock) await call(tx, "lock_customer", job.environmentId, customerId);
        const run = await customers.readAndReplay(tx, customerId, (logs) =>
          call(tx, "append_recompute_logs", job, logs),
        );
        const outcome = await call(tx, "apply_recompute", job, run?.applied() ?? { customerId });
        // Rolls back the rows appended to the logs; also if the customer was erased meanwhile.
        if (outcome === "changed" || (outcome === "gone" && run !== null)) throw new Changed();
      });
    } catch (error) {
      if (error instanceof Changed) return false;
      throw isCustomerError(error) ? new CustomerFailed(customerId, error) : error;
    }
    this.#done++;
    return true;
  }
}

/** Rolls back a transaction whose customer has changed since it was read. */
class Changed extends Error {}
