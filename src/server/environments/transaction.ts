import pg, { type ClientBase } from "pg";
import { withSession } from "../../db/address.js";
import { operatorErrorOf } from "../operator.js";

/**
 * Runs `work` as the operator in a transaction on a separate connection without a statement timeout. `mode` is what follows `begin`.
 *
 * @throws {OperatorError} if a function of the database refuses the work
 */
export async function inClientTransaction<T>(
  url: string,
  mode: string,
  work: (client: ClientBase) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({
    connectionString: withSession(url, { statement_timeout: 0 }),
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
