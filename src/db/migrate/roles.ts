import type { ClientBase } from "pg";
import { codeOf } from "../sqlstate.js";
import { describe } from "./execute.js";

/** Group roles: privileges are granted to them, and logins become their members. */
const ROLES = ["svc_http", "svc_worker", "svc_reader"] as const;

const IS_MISSING = "not exists (select from pg_catalog.pg_roles where rolname = role)";
/** From PostgreSQL 16 on, membership alone does not allow `set role`, and the creator of a role becomes a member without that option. */
const IS_NOT_HELD = `not pg_has_role(
  current_user, role, case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end
)`;

/**
 * Creates missing roles if the migrating user may. It is not an error if the server forbids it.
 *
 * @returns `present`: all exist, so that the grants can be applied; `usable`: the migrating user may act as them (`set role`); `notes`: what
 *   an operator should know, one line each
 */
export async function ensureRoles(client: ClientBase) {
  const user = (await client.query<{ name: string }>("select current_user::text as name")).rows[0]?.name ?? "";
  const missing = await rolesWhere(client, IS_MISSING);
  for (const role of missing) {
    const failure = await attempt(client, `create role ${role} nologin`, ["42710", "23505"]);
    if (failure === null) continue;
    const note =
      `roles ${missing.join(", ")} are missing and ${user} may not create them (${failure}); everything runs as ${user}. ` +
      `As a user who may: ${missing.map((name) => `create role ${name} nologin`).join("; ")}; grant ${ROLES.join(", ")} to ${user}`;
    return { present: false, usable: false, notes: [note] };
  }
  const notes: string[] = [];
  for (const role of await rolesWhere(client, IS_NOT_HELD)) {
    const failure = await attempt(client, `grant ${role} to current_user`, ["23505"]);
    if (failure !== null)
      notes.push(
        `${user} may not act as ${role} (${failure}); everything runs as ${user}. As a user who may: grant ${role} to ${user}`,
      );
  }
  await revokeDefaults(client);
  return { present: true, usable: notes.length === 0, notes };
}

/**
 * Revokes default privileges of PUBLIC that none of our roles needs and with which a login could fill the disk: temporary tables and large
 * objects. Only the database's owner may revoke the first and only a superuser the second; for others the server does nothing and warns. A
 * copy of a database has the first privilege again, so this is checked at every start.
 */
async function revokeDefaults(client: ClientBase): Promise<void> {
  const { rows } = await client.query<{ statement: string }>(`
    select format('revoke temporary on database %I from public', current_database()) as statement
    where has_database_privilege('svc_reader', current_database(), 'temporary')
    union all
    select format('revoke execute on function %s from public', p.oid::regprocedure)
    from pg_catalog.pg_proc as p
    where p.pronamespace = 'pg_catalog'::regnamespace
      and p.proname in ('lo_creat', 'lo_create', 'lo_from_bytea', 'lo_import')
      and has_function_privilege('svc_reader', p.oid, 'execute')
      and (select rolsuper from pg_catalog.pg_roles where rolname = current_user)`);
  for (const { statement } of rows) await client.query(statement);
}

/** Those of our roles for which an SQL expression is true. */
async function rolesWhere(client: ClientBase, expression: string): Promise<string[]> {
  const { rows } = await client.query<{ role: string }>(
    `select role from unnest($1::text[]) with ordinality as wanted (role, position) where ${expression} order by position`,
    [ROLES],
  );
  return rows.map(({ role }) => role);
}

/**
 * Null if the statement succeeded or failed with an accepted SQLSTATE: roles belong to the whole server, and another database may be migrated
 * at the same moment. The error of a missing privilege (42501, 0LP01) is returned as a string; any other is thrown.
 */
async function attempt(client: ClientBase, statement: string, accepted: string[]): Promise<string | null> {
  try {
    await client.query(statement);
    return null;
  } catch (error) {
    const code = codeOf(error);
    if (accepted.includes(code)) return null;
    if (code === "42501" || code === "0LP01") return describe(error);
    throw error;
  }
}
