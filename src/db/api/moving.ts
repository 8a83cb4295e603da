/** What freezing an environment came to. */
export interface Frozen {
  environmentId: number;
  frozenAt: string;
  /** Whether it was frozen before. */
  wasFrozen: boolean;
}

/** What may still change an environment that was just frozen. */
export interface ChangesUnderWay {
  /** All that run in the database, by the id that no other has while it runs, and the process of the server. */
  transactions: { id: string; pid: number }[];
  /** Seconds from now until nobody has a delivery under way; 0 where nobody has. */
  deliveringUntil: number;
}

/** A table of an environment, as svc.environment_tables tells it. */
export interface ExportedTable {
  name: string;
  /** Without the number of the environment or project, which is another one elsewhere. */
  columns: string[];
  /** Whose its rows are. */
  belongs: "environment" | "project" | "key";
}

/** What an export says of its environment. */
export interface ExportHeader {
  /** Names this export, and no other. */
  export: string;
  /** The last migration of the database. */
  migration: string | null;
  exportedAt: string;
  /** The user of the database. */
  exportedBy: string;
  organization: string;
  timeZone: string;
  project: { slug: string; name: string };
  environment: { name: string; createdAt: string; activeVersion: number | null };
  /** The last numbers that were given to calls and write-backs. */
  numbers: { batch: number; evaluation: number };
  /** What erasures have taken, which the audit log of the other database will not know. */
  erased: { events: number; emissions: number; recomputes: number };
  tables: ExportedTable[];
}

/** Where the rows of an export are to be copied to. */
export interface ImportBegun {
  environmentId: number;
  projectId: number;
  /** It was imported from this export before, and nothing is to be done. */
  isThere: boolean;
}
