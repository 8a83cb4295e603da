import type { Sql } from "postgres";

/** What a pooler's sessions are. */
export interface PooledSession {
  user: string;
  /** What HTTP calls can be called. False also where the database is another one. */
  mayCall: boolean;
  /** The user owns the service's functions, or may act as who does. */
  mayMore: boolean;
  /** Statements that take too long are ended. */
  hasTimeout: boolean;
}

/** Looks at the session that a pooler gives. */
export async function readPooledSession(sql: Sql): Promise<PooledSession> {
  const [row] = await sql<[PooledSession]>`
    select
      current_user::text as "user",
      coalesce(bool_or(has_schema_privilege(n.oid, 'usage')), false) as "mayCall",
      coalesce(bool_or(pg_has_role(n.nspowner, 'member')), false) as "mayMore",
      current_setting('statement_timeout') <> '0' as "hasTimeout"
    from pg_catalog.pg_namespace as n
    where n.nspname = 'svc_api'`;
  return row;
}
