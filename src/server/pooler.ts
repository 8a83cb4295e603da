import type { Sql } from "postgres";
import { SESSION } from "../db/address.js";
import { connect } from "../db/connect.js";
import { isSameDatabase, readPooledSession } from "../db/api/monitoring.js";
import type { Database } from "./database.js";
import type { Logger } from "./log.js";
import { databaseFailure, StartError } from "./start-failure.js";

/**
 * Checks that the pooler leads to the same database, as a user who may call what HTTP needs and nothing else. Throws StartError for problems that
 * the operator can fix. Does nothing if `url` is null.
 */
export async function checkPooler(
  url: string | null,
  { url: databaseUrl, useRoles }: Pick<Database, "url" | "useRoles">,
  logger: Logger,
): Promise<void> {
  if (url === null) return;
  let sql: Sql | undefined;
  const direct = connect(databaseUrl, { max: 1, applicationName: "svc http" });
  try {
    sql = connect(url, { max: 1, applicationName: "svc http", pooled: true });
    const { user, canCallApi, ownsApi, isEnforced, hasTimeout, otherSettings } = await readPooledSession(sql);
    const name = `"${user}"`;
    if (!canCallApi) {
      throw new StartError(
        `the user ${user} of SVC_POOLER_URL may not serve requests; as the owner: grant svc_http to ${name}`,
      );
    }
    if (useRoles && ownsApi) {
      throw new StartError(
        `the user ${user} of SVC_POOLER_URL may do more than requests need; name another one there: ` +
          `create role … login password '…' in role svc_http`,
      );
    }
    if (!(await isSameDatabase(direct, sql))) {
      throw new StartError(
        "SVC_POOLER_URL leads to another database than DATABASE_URL, or to a standby of it: events sent there would be acknowledged, " +
          "but no worker would see them; correct SVC_POOLER_URL, or the pooler's [databases]",
      );
    }
    if (!isEnforced) {
      throw new StartError(
        `the database checks no foreign keys and runs no triggers in the sessions of SVC_POOLER_URL, because session_replication_role is replica; ` +
          `as a superuser: alter role ${name} set session_replication_role = origin`,
      );
    }
    if (!hasTimeout) {
      logger.warn(
        `statement_timeout is not set for the user of SVC_POOLER_URL, so nothing ends a statement that takes too long: alter role ${name} set statement_timeout = '30s'`,
      );
    }
    if (otherSettings.length > 0) {
      const set = otherSettings
        .map((setting) => `alter role ${name} set ${setting} = '${SESSION[setting]!}'`)
        .join("; ");
      logger.warn(
        `the database has defaults under which the sessions of SVC_POOLER_URL do not work as intended: ${set}`,
      );
    }
  } catch (error) {
    throw databaseFailure(error, url, "SVC_POOLER_URL");
  } finally {
    await Promise.all([sql?.end({ timeout: 5 }), direct.end({ timeout: 5 })]);
  }
}
