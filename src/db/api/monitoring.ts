import { randomInt } from "node:crypto";
import type { Sql } from "postgres";
import { SESSION } from "../address.js";
import type { Committed } from "../migrate/files.js";
import { isForbidden, isUndefined } from "../sqlstate.js";
import { inTransaction } from "../transaction.js";

/** One value of a counter or histogram that workers gather. */
export interface CounterRow {
  counter: string;
  /** The joined values of its labels; empty if it has none. */
  label: string;
  /** Upper bound of a histogram's bucket, or the name of its sum; empty for a counter. */
  bucket: string;
  value: number;
}

/** The figures of the whole installation, as svc_api.metrics() returns them. None refers to a tenant. */
export interface Installation {
  pendingOperations: number;
  oldestPendingSeconds: number;
  setAsideCustomers: number;
  quarantinedOperations: number;
  jobs: { task: string; state: string; jobs: number }[];
  workers: number;
  recomputes: { kind: string; status: string; recomputes: number }[];
  recomputeCustomers: { all: number; done: number };
  deliveries: { pending: number; oldestDueSeconds: number };
  webhooks: { disabled: number; failing: number };
  connections: { application: string; connections: number }[];
  connectionsMax: number;
  counters: CounterRow[];
}

/** Resolves if the database answers a trivial query; rejects if it does not. */
export async function ping(sql: Sql): Promise<void> {
  await sql`select 1`;
}

/** A check that failed, as the database names it; the message is one public sentence. */
interface FailedDatabaseCheck {
  name: "database" | "migrations" | "worker";
  message: string;
}

/** Somebody has revoked a grant. A start does not notice: it applies grants only if they are not those of its record. */
const UNGRANTED = "The service may not use its functions in the database; `svc-server migrate` repairs the grants.";

/** Failed readiness checks of a process that knows these migrations; none if it is ready. Throws if the database is unavailable. */
export async function failedChecks(sql: Sql, migrations: readonly Committed[]): Promise<FailedDatabaseCheck[]> {
  const filenames = migrations.map(({ filename }) => filename);
  const hashes = migrations.map(({ hash }) => hash);
  try {
    const [row] = await sql<[{ checks: FailedDatabaseCheck[] }]>`
      select svc_api.failed_checks(${filenames}, ${hashes}) as checks`;
    return row.checks;
  } catch (error) {
    if (isForbidden(error)) return [{ name: "migrations", message: UNGRANTED }];
    if (!isUndefined(error)) throw error;
    return [{ name: "migrations", message: "The database lacks objects that this program's migrations create." }];
  }
}

/** First key of the locks that `isSameDatabase` takes. */
const MARK = 1_885_302_892;

/** Properties of a pooler's sessions. */
interface PooledSession {
  user: string;
  /** The user may call the functions that the HTTP API needs. False also for a different database. */
  canCallApi: boolean;
  /** The user owns the service's functions, or may act as their owner. */
  ownsApi: boolean;
  /** Foreign keys are checked, and triggers run. */
  isEnforced: boolean;
  /** A statement timeout is set. */
  hasTimeout: boolean;
  /** Settings of `SESSION` that have other values. */
  otherSettings: string[];
}

/**
 * Whether a pooler leads to the database itself, and not to a copy, a standby or another database with the same tables: a lock that is taken
 * directly must be visible through the pooler.
 *
 * @param sql connects to the database directly
 */
export function isSameDatabase(sql: Sql, pooled: Sql): Promise<boolean> {
  const number = randomInt(2 ** 31);
  return inTransaction(sql, "read only", async (tx) => {
    await tx`select pg_advisory_xact_lock(${MARK}::integer, ${number}::integer)`;
    const seen = await pooled`
      select from pg_catalog.pg_locks as l
      join pg_catalog.pg_database as d on d.oid = l.database
      where l.locktype = 'advisory' and l.classid = ${MARK}::oid and l.objid = ${number}::oid and d.datname = current_database()`;
    return seen.length > 0;
  });
}

/** What a database has in common with its standbys and physical copies only; null if a host does not show it. */
export async function databaseIdentity(sql: Sql): Promise<string | null> {
  const rows = await sql<{ identity: string }[]>`
    select s.system_identifier || '/' || d.oid as identity
    from pg_catalog.pg_control_system() as s
    join pg_catalog.pg_database as d on d.datname = current_database()`.catch((error: unknown) => {
    if (isForbidden(error)) return [];
    throw error;
  });
  return rows[0]?.identity ?? null;
}

/** Reads the properties of a session that a pooler provides. */
export async function readPooledSession(sql: Sql): Promise<PooledSession> {
  const [row] = await sql<[PooledSession]>`
    select
      current_user::text as "user",
      coalesce(bool_or(has_schema_privilege(n.oid, 'usage')), false) as "canCallApi",
      coalesce(bool_or(pg_has_role(n.nspowner, 'member')), false) as "ownsApi",
      current_setting('session_replication_role') <> 'replica' as "isEnforced",
      current_setting('statement_timeout') <> '0' as "hasTimeout",
      -- DateStyle also has an order of day and month.
      array(
        select s.name from unnest(${Object.keys(SESSION)}::text[], ${Object.values(SESSION).map(String)}::text[]) as s (name, value)
        where split_part(current_setting(s.name), ',', 1) <> s.value
      ) as "otherSettings"
    from pg_catalog.pg_namespace as n
    where n.nspname = 'svc_api'`;
  return row;
}
