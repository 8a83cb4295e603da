import { afterAll, beforeAll, expect, test } from "vitest";
import { connect, oneDatabase } from "../../src/db/connect.js";
import { createDatabase, rolledBack, type TestDatabase } from "../support/database.js";

let database: TestDatabase;
beforeAll(async () => void (database = await createDatabase()));
afterAll(() => database.drop());

test("a connection bears the application's name and a limit on each statement", async () => {
  const sql = connect(database.url, { max: 1, applicationName: "named", statementTimeoutMs: 1234 });
  const [row] = await sql`
    select current_setting('application_name') as name, current_setting('statement_timeout') as timeout`;
  expect(row).toEqual({ name: "named", timeout: "1234ms" });
  await sql.end();
});

test("a connection with a role acts as it", async () => {
  const sql = connect(database.url, { max: 1, applicationName: "named", role: "svc_http" });
  const [row] = await sql`select current_user::text as name`;
  expect(row).toEqual({ name: "svc_http" });
  await sql.end();
});

test("a notice of the server is handed over and not printed", async () => {
  const notices: unknown[] = [];
  const sql = connect(database.url, { max: 1, applicationName: "named", onNotice: (notice) => notices.push(notice) });
  await sql`drop table if exists does_not_exist`;
  expect(notices).toMatchObject([{ code: "00000", message: 'table "does_not_exist" does not exist, skipping' }]);
  await sql.end();
});

test("every environment lives in the one database", () => {
  const databases = oneDatabase(database.sql);
  expect(databases.dbFor("env_1")).toBe(database.sql);
  expect(databases.every()).toEqual([database.sql]);
});

test("what a rolled back test wrote is gone", async () => {
  const inside = await rolledBack(database.sql, async (tx) => {
    await tx`create table scratch (id int)`;
    return (await tx`select to_regclass('scratch') is not null as there`)[0];
  });
  expect(inside).toEqual({ there: true });
  expect(await database.sql`select to_regclass('scratch') is not null as there`).toEqual([{ there: false }]);
});
