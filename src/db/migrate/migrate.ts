import { setTimeout as delay } from "node:timers/promises";
import { Logger as WorkerLogger, runMigrations } from "graphile-worker";
import pg from "pg";
import { applyCode } from "./code.js";
import { migrateChain, missingMigrations, recordChain } from "./chain.js";
import { describe, execute, executeAll, inTransaction, MigrateError } from "./execute.js";
import { PROJECT_ROOT, readInstall, readUnreleased, type Install } from "./files.js";
import { withLockTimeout, setLockTimeout } from "./lock-timeout.js";
import { ensureRoles } from "./roles.js";

export interface MigrateReport {
  /** Committed migrations executed now (`000001.sql`, …). */
  migrations: string[];
  /** Whether functions, triggers, views and grants had to be applied. */
  code: "applied" | "unchanged";
  /** Whether connections may act as `svc_http`, `svc_worker` and `svc_reader`. */
  roles: boolean;
  /** What an operator should know, one line each. */
  notes: string[];
}

export interface MigrateOptions {
  /** The directory that holds `sql` and `migrations`; the project's own unless given. */
  root?: string;
  /** Told, in a sentence, when the migration waits: for another process's, or for the processes that use the database. */
  onWait?: (sentence: string) => void;
  /** How long it waits for them in all before it gives up. */
  waitMsMax?: number;
}

/** One migration at a time per database; graphile-migrate has a lock too, but fails where ours waits. */
const MIGRATE_LOCK = "7205759403793";
const LOCK_POLL_MS = 50;
const SERVER_VERSION_MIN = 150_000;

/**
 * Brings a database to what this program needs: the committed migrations, graphile-worker's, the roles, then functions, triggers,
 * views and grants. Processes that start at once wait for each other; where nothing is to do it takes a few milliseconds. Processes of the
 * version before go on meanwhile.
 * Throws MigrateError with one clear line, above all where the database is newer than the program.
 */
export async function migrate(url: string, options: MigrateOptions = {}): Promise<MigrateReport> {
  const root = options.root ?? PROJECT_ROOT;
  const install = await readInstall(root);
  return withLock(url, options, async (client, pool) => {
    const migrations = await missingMigrations(client, root);
    await both(
      withLockTimeout(() => migrateChain(url, root, migrations), options),
      migrateWorker(pool),
    );
    return { migrations, ...(await applyRest(client, install, options)) };
  });
}

/** Resolves, or throws, once neither is at work any more. The queue's tables and ours know nothing of each other. */
async function both(first: Promise<void>, second: Promise<void>): Promise<void> {
  await Promise.allSettled([first, second]);
  await second;
  await first;
}

/**
 * Builds an empty database from `sql/schema` instead of by the migrations, and records these as done. The result equals that of
 * `migrate`, which a test proves.
 */
export async function installFresh(url: string, options: MigrateOptions = {}): Promise<MigrateReport> {
  const root = options.root ?? PROJECT_ROOT;
  const install = await readInstall(root);
  return withLock(url, options, async (client, pool) => {
    await inTransaction(client, async () => {
      await executeAll(client, install.schema);
      await recordChain(client, root);
    });
    await migrateWorker(pool);
    return { migrations: [], ...(await applyRest(client, install, options)) };
  });
}

/**
 * What `migrate` will do once `migrations/current.sql` is released: the chain, then that file, which enters no ledger. For the tests, which
 * so have the tables as upgraded databases have them.
 */
export async function migrateUnreleased(url: string, options: MigrateOptions = {}): Promise<MigrateReport> {
  const root = options.root ?? PROJECT_ROOT;
  const install = await readInstall(root);
  const current = await readUnreleased(root);
  return withLock(url, options, async (client, pool) => {
    const migrations = await missingMigrations(client, root);
    await migrateChain(url, root, migrations);
    await inTransaction(client, () => execute(client, current));
    await migrateWorker(pool);
    return { migrations, ...(await applyRest(client, install, options)) };
  });
}

/** The roles and the code, which need all tables. */
async function applyRest(
  client: pg.PoolClient,
  install: Install,
  options: MigrateOptions,
): Promise<Omit<MigrateReport, "migrations">> {
  const roles = await ensureRoles(client);
  const code = await withLockTimeout(() => applyCode(client, install, roles.present), options);
  return { code, roles: roles.usable, notes: roles.notes };
}

async function migrateWorker(pool: pg.Pool): Promise<void> {
  try {
    await runMigrations({ pgPool: pool, logger: new WorkerLogger(() => () => undefined) });
  } catch (error) {
    throw new MigrateError(`graphile-worker's own migration: ${describe(error)}`, { cause: error });
  }
}

async function withLock<T>(
  url: string,
  options: MigrateOptions,
  work: (client: pg.PoolClient, pool: pg.Pool) => Promise<T>,
): Promise<T> {
  const pool = new pg.Pool({
    connectionString: url,
    max: 2, // one holds the lock and does the work, one is for graphile-worker
    application_name: "svc migrate",
    connectionTimeoutMillis: 30_000,
    options: "-c statement_timeout=0 -c lock_timeout=0",
  });
  // A lost connection also fails the query on it, or the next one; unhandled, these events would end the process.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  try {
    const client = await pool.connect();
    try {
      await checkServer(client);
      await takeLock(client, options);
      await setLockTimeout(client);
      return await work(client, pool);
    } finally {
      client.release(true); // closing the connection gives up the lock, whatever state it is in
    }
  } finally {
    await pool.end();
  }
}

/** Asks again and again instead of waiting in the server, where a process that ends meanwhile would stay in the queue. */
async function takeLock(client: pg.PoolClient, { onWait }: MigrateOptions): Promise<void> {
  const take = `select pg_try_advisory_lock(${MIGRATE_LOCK}) as taken`;
  const isTaken = async () => (await client.query<{ taken: boolean }>(take)).rows[0]?.taken === true;
  if (await isTaken()) return;
  onWait?.("another process migrates the database; the migration waits until that has done it");
  while (!(await isTaken())) await delay(LOCK_POLL_MS);
}

async function checkServer(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{
    number: number;
    version: string;
    encoding: string;
    standby: boolean;
    readonly: boolean;
  }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
       current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby,
       current_setting('transaction_read_only')::boolean as readonly`,
  );
  const server = rows[0];
  if (server === undefined) return;
  if (server.number < SERVER_VERSION_MIN) {
    throw new MigrateError(`the server runs PostgreSQL ${server.version}; 15 or newer is needed`);
  }
  if (server.encoding !== "UTF8") {
    throw new MigrateError(`the database's encoding is ${server.encoding}; create it with encoding UTF8`);
  }
  // Where nothing is to migrate, nothing else would say so.
  if (server.standby) {
    throw new MigrateError("the database is read-only, because it is a standby; name the primary in DATABASE_URL");
  }
  if (server.readonly) {
    throw new MigrateError(
      "the database is read-only, because default_transaction_read_only is on; name another one in DATABASE_URL, or set it off " +
        "for this one: alter database … set default_transaction_read_only = off",
    );
  }
}
