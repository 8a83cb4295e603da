import pg, { type ClientBase } from "pg";
import type { Sql } from "postgres";
import { UNLIMITED, withSession } from "../db/address.js";
import { connect } from "../db/connect.js";
import { codeOf, isUndefined } from "../db/sqlstate.js";
import type { ServerConfig } from "./config.js";
import { type Making, readDatabase, onDatabase } from "./database.js";
import type { Logger } from "./log.js";
import { OperatorError } from "./start-failure.js";

/** Reads the configuration and makes the logger. Called only after the command line was parsed. */
export type Configure = () => [ServerConfig, Logger];

/** The option `--json` of a command; `describe` says what it prints. */
export const jsonOption = (describe: string) => ({ type: "boolean", default: false, describe }) as const;

/**
 * Prints the result of a command: as a JSON document, or as lines for people.
 *
 * @param ifLost what to do if it cannot be written, for what nothing shows again; then the process ends as failed
 */
export function print(json: boolean, document: string, lines: readonly string[], ifLost?: string): void {
  process.stdout.write(json ? `${document}\n` : lines.map((line) => `${line}\n`).join(""), (error) => {
    if (!error || ifLost === undefined) return;
    process.stderr.write(
      `svc-server: the output could not be written (${codeOf(error)}), and nothing shows it again; ${ifLost}\n`,
    );
    process.exit(1);
  });
}

/**
 * Migrates the database and then runs `work` as the operator, the database user that migrates it. Can run while the service does.
 *
 * @param making whether a missing embedded database is made: not unless given
 * @throws {OperatorError} if a function of the database refuses the work
 */
export async function asOperator<T>(
  config: ServerConfig,
  logger: Logger,
  work: (sql: Sql) => Promise<T>,
  making?: Making,
): Promise<T> {
  return onDatabase(config, logger, (url) => runAsOperator(url, work), making);
}

/**
 * Reads something as the operator, in a database of any version, without migrating it.
 *
 * @param statementTimeoutMs limit for a statement, 0 for none; half a minute unless given
 * @throws {OperatorError} if a function of the database refuses the work, or does not exist
 */
export async function readAsOperator<T>(
  config: ServerConfig,
  logger: Logger,
  look: (sql: Sql) => Promise<T>,
  statementTimeoutMs?: number,
): Promise<T> {
  return readDatabase(config, logger, (url) => runAsOperator(url, look, statementTimeoutMs));
}

/** Runs `work` as the operator on the database at this address, which is not migrated. */
export async function runAsOperator<T>(
  url: string,
  work: (sql: Sql) => Promise<T>,
  statementTimeoutMs?: number,
): Promise<T> {
  const timeout = statementTimeoutMs === undefined ? {} : { statementTimeoutMs };
  const sql = connect(url, { max: 1, applicationName: "svc operator", ...timeout });
  try {
    return await work(sql);
  } catch (error) {
    throw operatorErrorOf(error) ?? error;
  } finally {
    // Without a limit it never settles if the connection was lost.
    await sql.end({ timeout: 1 });
  }
}

/**
 * Runs `work` as the operator in a transaction on a separate connection without limits of time. `mode` is what follows `begin`.
 *
 * @throws {OperatorError} if a function of the database refuses the work
 */
export async function inClientTransaction<T>(
  url: string,
  mode: string,
  work: (client: ClientBase) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: withSession(url, UNLIMITED),
    application_name: "svc operator",
    connectionTimeoutMillis: 10_000,
  });
  // Queries on a lost connection fail by themselves; without a listener the event would crash the process.
  client.on("error", () => undefined);
  await client.connect();
  try {
    await client.query(`begin ${mode}`);
    const result = await work(client);
    await client.query("commit");
    return result;
  } catch (error) {
    throw operatorErrorOf(error) ?? error;
  } finally {
    // Also rolls back a transaction that was not committed.
    await client.end().catch(() => undefined);
  }
}

/** The OperatorError for a refusal; null for other errors. Our functions raise SQLSTATEs of class SV, with message and fix in the detail. */
function operatorErrorOf(error: unknown): OperatorError | null {
  const { code, detail, constraint_name } = error as { code?: unknown; detail?: unknown; constraint_name?: unknown };
  if (constraint_name === "organizations_plan_id_fkey") {
    return new OperatorError(
      "there is no plan `standard`, with which organizations begin; " +
        "create it: svc-server plans set standard --rate-per-second 50000 --rate-burst 100000",
      { cause: error },
    );
  }
  if (isUndefined(error)) {
    const problem =
      "the database is not migrated to this version yet, or something of it was dropped; run `svc-server migrate` first";
    return new OperatorError(problem, { cause: error });
  }
  if (typeof code !== "string" || !code.startsWith("SV") || typeof detail !== "string") return null;
  const { message, fix } = JSON.parse(detail) as { message: string; fix: string };
  return new OperatorError(`${message} ${fix}`, { cause: error });
}
