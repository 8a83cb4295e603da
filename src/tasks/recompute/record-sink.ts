import type { Sql } from "postgres";
import {
  type RecomputeCustomer,
  type RecomputeJob,
  recordRecomputeChunk,
  type ResultCounts,
} from "../../db/api/recompute.js";
import { addCounts, noCounts } from "./difference.js";
import type { JobCustomers } from "./job-customers.js";

/** What is to be written of a customer. */
export interface Prepared {
  customerId: string;
  /** About how much memory it takes. */
  bytes: number;
}

/** Where the finds of a job go. */
export interface ResultSink<P extends Prepared = Prepared> {
  /** Replays a customer. */
  prepare(customer: RecomputeCustomer): Promise<P>;
  /** Writes customers, in order. */
  write(customers: readonly P[]): Promise<void>;
}

interface Found extends Prepared {
  counts: ResultCounts;
  /** `{customerId, weight, difference}`; null where nothing changes. */
  json: string | null;
}

/** Writes down what a dry run or a preview finds, and nothing else. */
export class RecordSink implements ResultSink<Found> {
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

  async write(customers: readonly Found[]): Promise<void> {
    const counts = noCounts();
    for (const found of customers) addCounts(counts, found.counts);
    await recordRecomputeChunk(this.session, this.job, {
      lastCustomerId: customers.at(-1)!.customerId,
      done: customers.length,
      differences: customers.flatMap(({ json }) => json ?? []),
      counts,
    });
  }
}
