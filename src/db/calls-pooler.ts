import { randomInt } from "node:crypto";
import type { Sql } from "postgres";
import { inTransaction } from "./transaction.js";

/** First key of the locks that `isSameDatabase` takes. */
const MARK = 1_885_302_892;

/** What a pooler's sessions are. */
export interface PooledSession {
  user: string;
  /** What HTTP calls can be called. False also where the database is another one. */
  canCallApi: boolean;
  /** The user owns the service's functions, or may act as who does. */
  mayMore: boolean;
  /** Statements that take too long are ended. */
  hasTimeout: boolean;
}

/**
 * Whether a pooler leads to the database itself, and not to a copy, a standby or another one with the same tables: a lock that is
 * held in the one is seen in the other.
 *
 * @param sql of the database itself
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

/** Looks at the session that a pooler gives. */
export async function readPooledSession(sql: Sql): Promise<PooledSession> {
  const [row] = await sql<[PooledSession]>`
    select
      current_user::text as "user",
      coalesce(bool_or(has_schema_privilege(n.oid, 'usage')), false) as "canCallApi",
      coalesce(bool_or(pg_has_role(n.nspowner, 'member')), false) as "mayMore",
      current_setting('statement_timeout') <> '0' as "hasTimeout"
    from pg_catalog.pg_namespace as n
    where n.nspname = 'svc_api'`;
  return row;
}
