import { connect } from "../db/connect.js";
import { readPooledSession } from "../db/calls-pooler.js";
import type { Database } from "./database.js";
import type { Logger } from "./log.js";
import { databaseFailure, StartError } from "./start-failure.js";

/**
 * Looks through the pooler whether requests can be served by it, as they are without one: by a user who may call what HTTP needs and
 * nothing else. Throws StartError where the operator can mend what is wrong. Nothing to do where `url` is null.
 */
export async function checkPooler(
  url: string | null,
  { useRoles }: Pick<Database, "useRoles">,
  logger: Logger,
): Promise<void> {
  if (url === null) return;
  const sql = connect(url, { max: 1, applicationName: "svc http", pooled: true });
  try {
    const { user, mayCall, mayMore, hasTimeout } = await readPooledSession(sql);
    const name = `"${user}"`;
    if (!mayCall) {
      throw new StartError(
        `the user ${user} of SVC_POOLER_URL may not serve requests; as the owner: grant svc_http to ${name}`,
      );
    }
    if (useRoles && mayMore) {
      throw new StartError(
        `the user ${user} of SVC_POOLER_URL may do more than requests need; name another one there: ` +
          `create role … login password '…' in role svc_http`,
      );
    }
    if (!hasTimeout) {
      logger.warn(
        `nothing ends a statement of SVC_POOLER_URL's user that takes too long: alter role ${name} set statement_timeout = '30s'`,
      );
    }
  } catch (error) {
    throw databaseFailure(error, url, "SVC_POOLER_URL");
  } finally {
    await sql.end({ timeout: 5 });
  }
}
