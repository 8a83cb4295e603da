/** Messages between the observer's process and its parent. */

export interface ObserverSettings {
  url: string;
  /** API key of the neighbour's project. */
  key: string;
  project: string;
  /** Credentials of its owner. */
  credentials: { accessToken: string; organizationId: string };
  databaseUrl: string;
  /** Processes whose memory is measured. */
  pids: { service: number; postmaster: number };
}

/** Figures since the last question. */
export interface Figures {
  /** Times from when events were due until the customer's state showed them, in ms; in the end also those of unseen events, until then. */
  latencies: number[];
  /** Events that were accepted, in total. */
  accepted: number;
  /** Events that were not accepted or not seen yet. */
  unseen: number;
  /** Counts of answers other than 202 to events, and other than 200 to requests. */
  refused: Record<string, number>;
  /** The longest wait for /livez. */
  longestBlockMs: number;
  /** Counts of answers of /readyz other than 200. */
  unready: Record<string, number>;
  /** Peak memory; for PostgreSQL, the unshared memory of all its processes together. */
  memory: { service: number; postgres: number };
}

export type Question = "take" | "finish";
