import type pg from "pg";
import { MigrateError } from "./execute.js";

const SERVER_VERSION_MIN = 150_000;
/** A setting without meaning, to check that sessions begin with the settings that we pass: they must set it to `kept`. */
export const MARK = "svc.session";

/**
 * SQL of what gives new sessions another value, in words. What the address sets precedes what the user does, that what the database does, and
 * that the configuration file.
 */
const correction = (name: string, value: string, lead: string) => `(
  select case s.source
    when 'client' then 'remove it from options in DATABASE_URL'
    else '${lead}: ' || format('alter %s set ${name} = ${value}', case s.source
      when 'user' then format('role %I', current_user)
      when 'database user' then format('role %I in database %I', current_user, current_database())
      else format('database %I', current_database())
    end)
  end
  from pg_settings as s where s.name = '${name}'
)`;

/** Checks what the service needs of the server, the database and what is in between. @throws {MigrateError} what is wrong, and what to do */
export async function checkServer(client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query<{
    number: number;
    version: string;
    encoding: string;
    standby: boolean;
    readonly: boolean;
    kept: boolean;
    makeWritable: string;
    unenforced: boolean;
    enforce: string;
  }>(
    `select current_setting('server_version_num')::int as number, current_setting('server_version') as version,
       current_setting('server_encoding') as encoding, pg_is_in_recovery() as standby,
       current_setting('transaction_read_only')::boolean as readonly,
       current_setting('${MARK}', true) is not distinct from 'kept' as kept,
       ${correction("default_transaction_read_only", "off", "set it off")} as "makeWritable",
       current_setting('session_replication_role') = 'replica' as unenforced,
       ${correction("session_replication_role", "origin", "as a superuser")} as enforce`,
  );
  const server = rows[0]!;
  if (server.number < SERVER_VERSION_MIN) {
    throw new MigrateError(`the server runs PostgreSQL ${server.version}; 15 or newer is needed`);
  }
  if (!server.kept) {
    throw new MigrateError(
      "new sessions do not have the role and the timeouts that are set for them (options), because a pooler is in between; " +
        "name the database itself in DATABASE_URL, and the pooler in SVC_POOLER_URL",
    );
  }
  if (server.encoding !== "UTF8") {
    throw new MigrateError(`the database's encoding is ${server.encoding}; create it with encoding UTF8`);
  }
  // If there is nothing to migrate, nothing else would report these.
  if (server.standby) {
    throw new MigrateError("the database is read-only, because it is a standby; name the primary in DATABASE_URL");
  }
  if (server.readonly) {
    throw new MigrateError(
      `the database is read-only, because default_transaction_read_only is on; name another one in DATABASE_URL, or ${server.makeWritable}`,
    );
  }
  if (server.unenforced) {
    throw new MigrateError(
      `the database checks no foreign keys and runs no triggers, because session_replication_role is replica; ${server.enforce}`,
    );
  }
}
