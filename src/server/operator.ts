import type { Sql } from "postgres";
import { connect } from "../db/connect.js";
import { isUndefined } from "../db/sqlstate.js";
import type { ServerConfig } from "./config.js";
import { lookAtDatabase, onDatabase } from "./database.js";
import type { Logger } from "./log.js";
import { OperatorError } from "./start-failure.js";

/** What the process was told by its variables; called only once the command line is understood. */
export type Configure = () => [ServerConfig, Logger];

/** The option `--json` of a command; `describe` says what is printed then. */
export const jsonOption = (describe: string) => ({ type: "boolean", default: false, describe }) as const;

/** Prints what a command comes to: a document, or lines for people. */
export function print(json: boolean, document: string, lines: readonly string[]): void {
  process.stdout.write(json ? `${document}\n` : lines.map((line) => `${line}\n`).join(""));
}

/**
 * Does something as the operator, who is the user that migrates the database. It may run while the service does.
 *
 * @throws {OperatorError} where a function of the database refuses it.
 */
export async function asOperator<T>(config: ServerConfig, logger: Logger, work: (sql: Sql) => Promise<T>): Promise<T> {
  return onDatabase(config, logger, (url) => operate(url, work));
}

/**
 * Looks at something as the operator, in a database of any version: that is not migrated by looking.
 *
 * @param statementTimeoutMs how long a statement may take, 0 for any time; half a minute unless given
 * @throws {OperatorError} where a function of the database refuses it, or is not there.
 */
export async function lookAsOperator<T>(
  config: ServerConfig,
  logger: Logger,
  look: (sql: Sql) => Promise<T>,
  statementTimeoutMs?: number,
): Promise<T> {
  return lookAtDatabase(config, logger, (url) => operate(url, look, statementTimeoutMs));
}

/** As `asOperator`, of the database at this address. */
export async function operate<T>(url: string, work: (sql: Sql) => Promise<T>, statementTimeoutMs?: number): Promise<T> {
  const timeout = statementTimeoutMs === undefined ? {} : { statementTimeoutMs };
  const sql = connect(url, { max: 1, applicationName: "svc operator", ...timeout });
  try {
    return await work(sql);
  } catch (error) {
    throw operatorErrorOf(error) ?? error;
  } finally {
    await sql.end();
  }
}

/** Our functions raise SQLSTATEs of class SV, with what to say in the detail. */
export function operatorErrorOf(error: unknown): OperatorError | null {
  const { code, detail, constraint_name } = error as { code?: unknown; detail?: unknown; constraint_name?: unknown };
  if (constraint_name === "organizations_plan_id_fkey") {
    return new OperatorError(
      "there is no plan `standard`, with which organizations begin; " +
        "make it: svc-server plans set standard --rate-per-second 50000 --rate-burst 100000",
      { cause: error },
    );
  }
  if (isUndefined(error)) {
    const said = "the database is not that of this version yet; run `svc-server migrate` first";
    return new OperatorError(said, { cause: error });
  }
  if (typeof code !== "string" || !code.startsWith("SV") || typeof detail !== "string") return null;
  const { message, fix } = JSON.parse(detail) as { message: string; fix: string };
  return new OperatorError(`${message} ${fix}`, { cause: error });
}
