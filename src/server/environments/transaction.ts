import pg, { type ClientBase } from "pg";
import { withSession } from "../../db/address.js";
import { operatorErrorOf } from "../operator.js";

/**
 * Works as the operator in a transaction of its own connection, whose statements may take any time. `mode` is as `begin` takes it.
 *
 * @throws {OperatorError} where a function of the database refuses it
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
  // What is asked on a lost connection fails; nobody else is to hear of it.
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
    // Ends the transaction, where it was not committed.
    await client.end().catch(() => undefined);
  }
}
