import { pipeline } from "node:stream/promises";
import type { ClientBase } from "pg";
import { from } from "pg-copy-streams";

/** What freezing an environment came to. */
export interface Frozen {
  environmentId: number;
  frozenAt: string;
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

/** An export that begins: of each of the header's tables the statement that reads its rows. */
export interface ExportBegun {
  header: ExportHeader;
  statements: string[];
}

/** The encrypted signing secret of a webhook, in base64. */
export interface SealedSecret {
  webhookId: string;
  secret: string;
}

/** Where the rows of an export are to be copied to. */
export interface ImportBegun {
  environmentId: number;
  projectId: number;
  /** It was imported from this export before, and nothing is to be done. */
  isThere: boolean;
}

/**
 * Stores rows of a table, one a line as `copy` writes them, of the environment or project that is imported; answers how many they were. Versions go to where operator_import_versions
 * looks for them.
 *
 * @param table whose names operator_begin_import has compared with the catalog's
 * @param rows what is read of them, with this before each line
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

/** Whether an error says that an API key is there already. */
export function isKnownKey(error: unknown): boolean {
  return (error as { constraint?: unknown }).constraint === "api_keys_pkey";
}
