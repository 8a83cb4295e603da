import type { Sql } from "postgres";
import { ComputeThread } from "../compute/compute-thread.js";
import { Semaphore } from "../semaphore.js";

/** What takes longer than a look-up, with connections and places of its own: ingestion never waits for any of it. */
export interface CustomerWork {
  /** Opens transactions, and lets statements take minutes. */
  sql: Sql;
  /** Explains, and compares versions. */
  thread: ComputeThread;
  /** Of organizations, each of which has one at work at most, as of exports. */
  explanations: Semaphore;
  exports: Semaphore;
  erasures: Semaphore;
}

const WAIT_MS_MAX = 10_000;
/** Explanations are computed in one thread; two at once keep the database busy while one computes. */
const EXPLANATIONS = 2;
const EXPORTS = 4;
/** An erasure writes much at once. */
const ERASURES = 1;

/** An organization leaves places to the others, at work and in the line. */
const FAIRLY = { placesEach: 1, waitingMax: 50, each: 26, waitMsMax: WAIT_MS_MAX };

/** How many connections `createCustomerWork` uses at most. */
export const CUSTOMER_WORK_CONNECTIONS = EXPLANATIONS + EXPORTS + ERASURES;

/** @param sql a pool of CUSTOMER_WORK_CONNECTIONS that may pipeline, for the driver's transactions */
export function createCustomerWork(sql: Sql): CustomerWork {
  return {
    sql,
    thread: new ComputeThread(),
    explanations: new Semaphore({ ...FAIRLY, places: EXPLANATIONS, reason: "Too many customers are being explained." }),
    exports: new Semaphore({ ...FAIRLY, places: EXPORTS, reason: "Too many customers are being exported." }),
    erasures: new Semaphore({ ...FAIRLY, places: ERASURES }),
  };
}
