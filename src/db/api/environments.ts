import { pipeline } from "node:stream/promises";
import type { ClientBase } from "pg";
import { from } from "pg-copy-streams";

/** The result of freezing an environment. */
export interface Frozen {
  environmentId: number;
  frozenAt: string;
}

/** Work that may still change an environment that was just frozen. */
export interface ChangesUnderWay {
  /** Since when it is frozen now; null if it is not. */
  frozenAt: string | null;
  /** When it was last unfrozen; null if it never was. */
  unfrozenAt: string | null;
  /** All that run in the database, by an id that is unique while it runs, and the server process. */
  transactions: { id: string; pid: number }[];
  /** Seconds from now until no delivery can be under way; 0 if none is. */
  deliveringUntil: number;
}

/** A table with rows of an environment, as svc.environment_tables returns it. */
export interface ExportedTable {
  name: string;
  /** Without the number of the environment or project, which differs between databases. */
  columns: string[];
  /** What its rows belong to. */
  belongs: "environment" | "project" | "key";
}

/** The header of an export, which describes its environment. */
export interface ExportHeader {
  /** A unique id of this export. */
  export: string;
  /** The last migration of the database. */
  migration: string | null;
  exportedAt: string;
  /** The database user. */
  exportedBy: string;
  organization: string;
  timeZone: string;
  project: { slug: string; name: string };
  environment: { name: string; createdAt: string; activeVersion: number | null };
  /** The last numbers assigned to ingestion calls and to evaluation's write-backs. */
  numbers: { batch: number; evaluation: number };
  /** What erasures have removed, which is not in the audit log of the other database. */
  erased: { events: number; emissions: number; recomputes: number };
  tables: ExportedTable[];
}

/** The beginning of an export: the header, and for each of its tables the statement that reads its rows. */
export interface ExportBegun {
  header: ExportHeader;
  statements: string[];
}

/** The encrypted signing secret of a webhook, in base64. */
export interface SealedSecret {
  webhookId: string;
  secret: string;
}

/** The destination of an export's rows. */
export interface ImportBegun {
  environmentId: number;
  projectId: number;
  /** This export was already imported, and nothing is to be done. */
  isThere: boolean;
}

/**
 * Stores rows of a table for the imported environment or project, one per line in the format of `copy`; returns how many they were. Versions
 * are stored in a temporary table, which operator_import_versions reads.
 *
 * @param table its names were compared with the catalog by operator_begin_import
 * @param rows reads the lines, each with the given prefix
 */
export async function storeRows(
  client: ClientBase,
  { name, columns, belongs }: ExportedTable,
  { environmentId, projectId }: ImportBegun,
  rows: (prefix: string) => AsyncIterable<Buffer>,
): Promise<number> {
  const into = belongs === "project" ? "pg_temp.imported_versions" : `svc."${name}"`;
  const prefix = { environment: `${environmentId}\t`, project: `${projectId}\t`, key: "" }[belongs];
  const owner = { environment: ["environment_id"], project: ["project_id"], key: [] }[belongs];
  const stored = [...owner, ...columns].map((column) => `"${column}"`).join(", ");
  const copy = client.query(from(`copy ${into} (${stored}) from stdin`));
  await pipeline(rows(prefix), copy);
  return copy.rowCount;
}

/** Whether an error says that an API key exists already. */
export function isKnownKey(error: unknown): boolean {
  return (error as { constraint?: unknown }).constraint === "api_keys_pkey";
}
