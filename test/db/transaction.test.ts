import { afterAll, expect, onTestFinished, test, vi } from "vitest";
import { call } from "../../src/db/api/call.js";
import { connect } from "../../src/db/connect.js";
import { inTransaction, onSnapshot } from "../../src/db/transaction.js";
import { createDatabase } from "../support/database.js";

const database = await createDatabase();
afterAll(() => database.drop());

const LOST = { code: "CONNECTION_CLOSED" };

test.each([["onSnapshot", onSnapshot] as const, ["inTransaction", inWriting] as const])(
  "%s: work that waited for something else when the connection was lost ends, since its next query fails",
  async (_, begin) => {
    const sql = connect(database.url, { max: 1, applicationName: "lost" });
    onTestFinished(() => sql.end());
    let goOn = () => {};
    const wait = new Promise<void>((resolve) => (goOn = resolve));
    let ended: Promise<unknown> | undefined;
    const transaction = begin(sql, async (tx) => {
      const [row] = await tx<[{ pid: number }]>`select pg_backend_pid() as pid`;
      await database.sql`select pg_terminate_backend(${row.pid})`;
      ended = wait.then(() => call(tx, "operator_list_users"));
      return ended;
    });
    await expect(transaction).rejects.toBeDefined();
    // The connection may be found lost before the statement that ends it is answered.
    await vi.waitUntil(() => ended !== undefined);
    goOn();
    await expect(ended).rejects.toMatchObject(LOST);
    expect((await sql`select 1 as one`)[0]).toEqual({ one: 1 });
  },
);

function inWriting(...[sql, work]: Parameters<typeof onSnapshot<unknown>>): Promise<unknown> {
  return inTransaction(sql, "isolation level read committed", work);
}
