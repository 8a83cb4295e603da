import type { Sql } from "postgres";
import { Models } from "../../evaluation/models.js";
import { PlacesEach } from "./places-each.js";
import { Places } from "./places.js";

/** What takes longer than a look-up, with connections and places of its own: ingestion never waits for any of it. */
export interface CustomerWork {
  /** Opens transactions, and lets statements take minutes. */
  sql: Sql;
  models: Models;
  explanations: Places;
  /** Whose length the reader decides. */
  exports: PlacesEach;
  erasures: Places;
}

const WAIT_MS_MAX = 10_000;
/** Explanations compute in this process; two at once keep the database busy while one computes. */
const EXPLANATIONS = 2;
const EXPORTS = 2;
/** An erasure writes much at once. */
const ERASURES = 1;

/** How many connections `createCustomerWork` uses at most. */
export const CUSTOMER_WORK_CONNECTIONS = EXPLANATIONS + EXPORTS + ERASURES;

/** @param sql a pool of CUSTOMER_WORK_CONNECTIONS that may pipeline, for the driver's transactions */
export function createCustomerWork(sql: Sql): CustomerWork {
  return {
    sql,
    models: new Models(),
    explanations: new Places({ places: EXPLANATIONS, waitingMax: 50, waitMsMax: WAIT_MS_MAX }),
    exports: new PlacesEach({ places: EXPORTS, waitingMax: 10, waitMsMax: WAIT_MS_MAX }),
    erasures: new Places({ places: ERASURES, waitingMax: 50, waitMsMax: WAIT_MS_MAX }),
  };
}
