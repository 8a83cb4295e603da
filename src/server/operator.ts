import type { Sql } from "postgres";
import { connect } from "../db/connect.js";
import type { ServerConfig } from "./config.js";
import { openDatabase } from "./database.js";
import type { Logger } from "./log.js";
import { OperatorError } from "./operator-error.js";

/**
 * Does something as the operator, who is the user that migrates the database. It may run while the service does.
 *
 * @throws {OperatorError} where a function of the database refuses it.
 */
export async function asOperator<T>(config: ServerConfig, logger: Logger, work: (sql: Sql) => Promise<T>): Promise<T> {
  const database = await openDatabase(config, logger);
  try {
    const sql = connect(database.url, { max: 1, applicationName: "svc operator" });
    return await work(sql).finally(() => sql.end());
  } catch (error) {
    throw refusalOf(error) ?? error;
  } finally {
    await database.release();
  }
}

/** Our functions raise SQLSTATEs of class SV, with what to say in the detail. */
function refusalOf(error: unknown): OperatorError | null {
  const { code, detail } = error as { code?: unknown; detail?: unknown };
  if (typeof code !== "string" || !code.startsWith("SV") || typeof detail !== "string") return null;
  const { message, fix } = JSON.parse(detail) as { message: string; fix: string };
  return new OperatorError(`${message} ${fix}`, { cause: error });
}
