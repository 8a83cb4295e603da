/** What the observer's process and its starter tell each other. */

export interface ObserverSettings {
  url: string;
  /** Of the neighbour's project. */
  key: string;
  project: string;
  /** Of its owner. */
  credentials: { accessToken: string; organizationId: string };
  databaseUrl: string;
  /** Whose memory is watched. */
  pids: { service: number; postmaster: number };
}

/** Since it was last asked. */
export interface Figures {
  /** From when an event was due until the customer's state showed it, in ms; in the end also of those that were not seen, until then. */
  latencies: number[];
  /** Events that were accepted, in all. */
  accepted: number;
  /** Events that were not accepted or not seen yet. */
  unseen: number;
  /** Answers to events other than 202, and to its questions other than 200, and how often each came. */
  refused: Record<string, number>;
  /** The longest wait for /livez, and for the whole of what was waited for. */
  longestBlockMs: number;
  /** Answers of /readyz other than 200, and how often each came. */
  unready: Record<string, number>;
  /** The most at once; of PostgreSQL, memory that its processes do not share, of all together. */
  memory: { service: number; postgres: number };
}

export type Question = "take" | "finish";
