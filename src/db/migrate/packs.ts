import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import type { RunnerOption } from "node-pg-migrate";
import { UNLIMITED, withSession } from "../address.js";
import { describe, hasTable, MIGRATE_LOCK, MigrateError } from "./execute.js";
import { PROJECT_ROOT } from "./files.js";

/** The schema of the packs' ledgers: a table for each pack, of the same name. */
const LEDGERS = "svc_packs";

export interface Pack {
  name: string;
  /** Its purpose, in a line. */
  about: string;
  /** How many migrations it has, and how many of them are applied. */
  migrations: number;
  applied: number;
}

/** The packs in `migrations/packs` of a directory, and how much of each the database has. */
export async function listPacks(url: string, root = PROJECT_ROOT): Promise<Pack[]> {
  const names = await packNames(root);
  return withClient(url, async (client) => {
    const packs: Pack[] = [];
    for (const name of names) {
      const directory = directoryOf(root, name);
      const files = (await readdir(directory)).filter((file) => file.endsWith(".sql")).sort();
      const first = await readFile(path.join(directory, files[0] ?? ""), "utf8");
      const about = /^-- (.+)$/m.exec(first)?.[1] ?? "";
      packs.push({ name, about, migrations: files.length, applied: await countApplied(client, name) });
    }
    return packs;
  });
}

/** Installs a pack, or updates it to this version; returns the migrations that were executed. If one fails, all are rolled back. */
export async function installPack(url: string, name: string, root = PROJECT_ROOT): Promise<string[]> {
  try {
    return await run(url, name, "up", root);
  } catch (error) {
    // The runner creates the ledger before the migrations. If the database cannot be reached, `error` already says so.
    await withClient(url, (client) => dropEmptyLedger(client, name)).catch(() => undefined);
    throw error;
  }
}

/** Removes a pack and its ledger; returns the migrations that were undone. */
export async function removePack(url: string, name: string, root = PROJECT_ROOT): Promise<string[]> {
  const undone = await run(url, name, "down", root);
  await withClient(url, (client) => dropEmptyLedger(client, name));
  return undone;
}

/**
 * Drops a pack's ledger if it is empty, and the schema of the ledgers with the last of them. The runner has released its lock, so another
 * process may be about to write into the ledger: it waits until our connection is closed, or we until it has finished.
 */
async function dropEmptyLedger(client: pg.Client, name: string): Promise<void> {
  await client.query(`select pg_advisory_lock(${MIGRATE_LOCK})`);
  if ((await countApplied(client, name)) > 0) return;
  await client.query(`drop table if exists ${LEDGERS}.${pg.escapeIdentifier(name)}`);
  const others = "select from pg_catalog.pg_class where relnamespace = to_regnamespace($1)::oid";
  const { rowCount } = await client.query(others, [LEDGERS]);
  if (rowCount === 0) await client.query(`drop schema if exists ${LEDGERS}`);
}

async function run(url: string, name: string, direction: "up" | "down", root: string): Promise<string[]> {
  const names = await packNames(root);
  if (!names.includes(name)) throw new MigrateError(`there is no pack \`${name}\`; available: ${names.join(", ")}`);
  // Rarely needed, and slow to load.
  const { runner } = await import("node-pg-migrate");
  const options: RunnerOption = {
    databaseUrl: sessionAt(url),
    dir: directoryOf(root, name),
    direction,
    count: Infinity,
    migrationsSchema: LEDGERS,
    createMigrationsSchema: true,
    migrationsTable: name,
    // A migration applies functions that a pack changes, too.
    lockValue: Number(MIGRATE_LOCK),
    advisoryLockMode: "wait",
    singleTransaction: true,
    log: () => undefined,
  };
  try {
    return (await runner(options)).map((migration) => migration.name);
  } catch (error) {
    throw new MigrateError(`pack ${name}: ${describe(error)}`, { cause: error });
  }
}

async function packNames(root: string): Promise<string[]> {
  const entries = await readdir(path.join(root, "migrations/packs"), { withFileTypes: true });
  return entries
    .filter((entry) => entry.isDirectory())
    .map(({ name }) => name)
    .sort();
}

function directoryOf(root: string, name: string): string {
  return path.join(root, "migrations/packs", name);
}

async function countApplied(client: pg.Client, name: string): Promise<number> {
  const ledger = `${LEDGERS}.${pg.escapeIdentifier(name)}`;
  if (!(await hasTable(client, ledger))) return 0;
  return (await client.query<{ n: number }>(`select count(*)::int as n from ${ledger}`)).rows[0]?.n ?? 0;
}

/** A pack may copy all tables, for which no default of the user or the database is long enough. */
function sessionAt(url: string): pg.ClientConfig {
  return {
    connectionString: withSession(url, UNLIMITED),
    application_name: "svc packs",
  };
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(sessionAt(url));
  client.on("error", () => undefined); // the current query fails as well; unhandled, the event would end the process
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
