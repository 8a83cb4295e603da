import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Logger as WorkerLogger, runMigrations } from "graphile-worker";
import pg from "pg";
import { UNLIMITED, withSession } from "../address.js";
import { migrateChain, missingMigrations } from "./chain.js";
import {
  describe,
  executeAll,
  hasTable,
  inMigrationTransaction,
  LOCK_TIMEOUT_MS,
  type LockTimeoutOptions,
  MIGRATE_LOCK,
  MigrateError,
  withLockTimeout,
} from "./execute.js";
import { PROJECT_ROOT, readInstall, type Install } from "./files.js";
import { ensureRoles } from "./roles.js";
import { checkServer, MARK } from "./server-requirements.js";

export interface MigrateReport {
  /** The committed migrations that were executed (`000001.sql`, …). */
  migrations: string[];
  /** Whether functions, triggers, views and grants had to be applied. */
  code: "applied" | "unchanged";
  /** Whether connections may act as `svc_http`, `svc_worker` and `svc_reader`. */
  roles: boolean;
  /** What an operator should know, one line each. */
  notes: string[];
}

export interface MigrateOptions extends LockTimeoutOptions {
  /** The directory that holds `sql` and `migrations`; the project's own unless given. */
  root?: string;
  /** Functions, triggers, views and grants are applied even if they are recorded as applied: somebody may have dropped or revoked some. */
  again?: boolean;
}

const LOCK_POLL_MS = 50;

/**
 * Brings a database to the state that this program needs: the committed migrations, graphile-worker's, the roles, then functions, triggers,
 * views and grants. Processes that start at once wait for each other; if there is nothing to do, it takes a few milliseconds. Processes of
 * the previous version continue meanwhile.
 * Throws MigrateError with one clear line, in particular if the database is newer than the program.
 */
export function migrate(url: string, options: MigrateOptions = {}): Promise<MigrateReport> {
  return migrateWith(url, options, async (client, root, missing) => {
    await withLockTimeout(() => migrateChain(client, url, root, missing), options);
    return missing;
  });
}

/** Creates our tables, given the migrations that the database does not have; returns those that were executed. */
type MakeTables = (client: pg.PoolClient, root: string, missing: string[]) => Promise<string[]>;

/** Migrates the tables, ours and the job queue's, which are independent; then the roles and the code, which need both. */
export async function migrateWith(
  url: string,
  options: MigrateOptions,
  makeTables: MakeTables,
): Promise<MigrateReport> {
  const root = options.root ?? PROJECT_ROOT;
  const install = await readInstall(root);
  return withLock(url, options, async (client, pool) => {
    const tables = makeTables(client, root, await missingMigrations(client, root));
    const queue = withLockTimeout(() => migrateWorker(pool), options);
    // Wait until both have ended, even if one fails.
    await Promise.allSettled([tables, queue]);
    await queue;
    const migrations = await tables;
    const roles = await ensureRoles(client);
    const code = await withLockTimeout(() => applyCode(client, install, roles.present, options.again), options);
    return { migrations, code, roles: roles.usable, notes: roles.notes };
  });
}

async function migrateWorker(pool: pg.Pool): Promise<void> {
  try {
    await runMigrations({ pgPool: pool, schema: "graphile_worker", logger: new WorkerLogger(() => () => undefined) });
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
    connectionString: withSession(url, { ...UNLIMITED, lock_timeout: LOCK_TIMEOUT_MS, [MARK]: "kept" }),
    max: 2, // one holds the lock and does the work, one is for graphile-worker
    application_name: "svc migrate",
    connectionTimeoutMillis: 30_000,
  });
  // A lost connection also fails its current or next query; unhandled, these events would end the process.
  pool.on("error", () => undefined);
  pool.on("connect", (client) => client.on("error", () => undefined));
  try {
    const client = await pool.connect();
    try {
      await checkServer(client);
      await takeLock(client, options);
      return await work(client, pool);
    } finally {
      client.release(true); // closing the connection releases the lock, whatever state it is in
    }
  } finally {
    await pool.end();
  }
}

/** Polls instead of waiting in the server, where a process that ends meanwhile would stay in the queue. */
async function takeLock(client: pg.PoolClient, { onWait }: MigrateOptions): Promise<void> {
  const take = `select pg_try_advisory_lock(${MIGRATE_LOCK}) as taken`;
  const isTaken = async () => (await client.query<{ taken: boolean }>(take)).rows[0]?.taken === true;
  if (await isTaken()) return;
  onWait?.("another process migrates the database; the migration waits until that has finished");
  while (!(await isTaken())) await delay(LOCK_POLL_MS);
}

/** For databases with the pack citus. */
const ADAPT_TO_CLUSTER = `
  do $$
  begin
    if to_regprocedure('svc_citus.adapt_functions()') is not null then
      perform svc_citus.adapt_functions();
      perform svc_citus.admit_readers();
    end if;
  end
  $$`;

/**
 * Applies functions, triggers, views and, if the roles exist, their grants: all in one transaction, so that other processes
 * see either the old code or the new. Unless `again` is true, it is skipped if the database has a record that exactly this was applied, and
 * still has the functions, and the grants, which a copy may lack.
 */
async function applyCode(client: pg.ClientBase, install: Install, rolesPresent: boolean, again = false) {
  const files = [...install.code, ...(rolesPresent ? install.roles : [])];
  const digest = createHash("sha256");
  for (const { name, text } of files) digest.update(`${name}\0${text}\0`);
  const hash = digest.digest("hex");
  const isApplied = async () =>
    (await appliedHash(client)) === hash &&
    (await hasFunctions(client, install)) &&
    (!rolesPresent || (await hasGrants(client)));
  if (!again && (await isApplied())) return "unchanged";
  await inMigrationTransaction(client, async () => {
    await executeAll(client, files);
    await client.query(ADAPT_TO_CLUSTER);
    await recordHash(client, hash);
  });
  return "applied";
}

async function appliedHash(client: pg.ClientBase): Promise<string | null> {
  if (!(await hasTable(client, "svc_migrate.applied_code"))) return null;
  return (await client.query<{ hash: string }>("select hash from svc_migrate.applied_code")).rows[0]?.hash ?? null;
}

/** Whether every function exists: nothing else would show that one was dropped until something calls it. */
async function hasFunctions(client: pg.ClientBase, { code }: Install): Promise<boolean> {
  const names = code.flatMap(({ text }) =>
    [...text.matchAll(/^create or replace function (\w+\.\w+)\(/gm)].map(([, name]) => name),
  );
  const { rows } = await client.query(
    `select from unnest($1::text[]) as f (name)
     where f.name not in (
       select n.nspname || '.' || p.proname
       from pg_catalog.pg_proc as p
       join pg_catalog.pg_namespace as n on n.oid = p.pronamespace
       where n.nspname in ('iam', 'svc', 'svc_api', 'svc_inspect')
     )`,
    [names],
  );
  return rows.length === 0;
}

/** Whether the roles may use the schemas with the functions and views: a restore without privileges does not grant it. */
async function hasGrants(client: pg.ClientBase): Promise<boolean> {
  const { rows } = await client.query(`
    select from (values ('svc_http', 'svc_api'), ('svc_worker', 'svc_api'), ('svc_reader', 'svc_inspect')) as g (role, schema)
    join pg_catalog.pg_namespace as n on n.nspname = g.schema
    where not has_schema_privilege(g.role, n.oid, 'usage')`);
  return rows.length === 0;
}

async function recordHash(client: pg.ClientBase, hash: string): Promise<void> {
  await client.query(`
    create schema if not exists svc_migrate;
    comment on schema svc_migrate is 'What the migration records, besides the ledger in graphile_migrate.';
    create table if not exists svc_migrate.applied_code (
      single boolean primary key default true constraint applied_code_single check (single),
      hash text not null,
      applied_at timestamptz not null default now()
    );
    comment on table svc_migrate.applied_code is 'Which functions, triggers, views and grants the database has.';
    comment on column svc_migrate.applied_code.single is 'Keeps the table to one row.';
    comment on column svc_migrate.applied_code.hash is 'SHA-256 of the files applied last, in order; hex.';
    comment on column svc_migrate.applied_code.applied_at is 'When they were applied.';
  `);
  await client.query(
    `insert into svc_migrate.applied_code (hash) values ($1)
     on conflict (single) do update set hash = excluded.hash, applied_at = now()`,
    [hash],
  );
}
