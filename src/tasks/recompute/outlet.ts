import type { RecomputeCustomer } from "../../db/calls-recompute.js";

/** What is to be written of a customer. */
export interface Prepared {
  customerId: string;
  /** About how much memory it takes. */
  bytes: number;
}

/** Where the finds of a job go. */
export interface Outlet<P extends Prepared = Prepared> {
  /** Replays a customer. */
  prepare(customer: RecomputeCustomer): Promise<P>;
  /** Writes customers, in order. */
  write(customers: readonly P[]): Promise<void>;
}
