import pg from "pg";
import type { Sql } from "postgres";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { connect, type ConnectOptions } from "../../src/db/connect.js";
import { withSession } from "../../src/db/address.js";
import { createDatabase, setUnusualDefaults } from "../support/database.js";

const database = await createDatabase();
afterAll(() => database.drop());

/** A client with one connection, until the end of the test. */
function named(options: Partial<ConnectOptions>): Sql {
  const sql = connect(database.url, { max: 1, applicationName: "named", ...options });
  onTestFinished(() => sql.end());
  return sql;
}

test("a connection has the application's name, a statement timeout and a role", async () => {
  const [row] = await named({ statementTimeoutMs: 1234, role: "svc_http" })`
    select current_setting('application_name') as name, current_setting('statement_timeout') as timeout, current_user::text as role`;
  expect(row).toEqual({ name: "named", timeout: "1234ms", role: "svc_http" });
});

test("a session reads and writes values in PostgreSQL's own formats and isolation, and lasts, whatever the database's defaults", async () => {
  const other = await createDatabase();
  onTestFinished(() => other.drop());
  await setUnusualDefaults(other);
  const question = String.raw`
    select '2026-11-08 10:00:00.5Z'::timestamptz::text as at, '1 day 2 hours'::interval::text as span, '\x00ff'::bytea as bytes,
      (1::float8 / 3)::text as third, '{NULL}'::text[] as list, length('\n') as length, null = null as same,
      current_setting('transaction_isolation') as isolation, current_setting('idle_session_timeout') as idle`;
  const expected = {
    ...{ at: "2026-11-08 15:30:00.5+05:30", span: "1 day 02:00:00", bytes: Buffer.from([0, 255]) },
    ...{ third: "0.3333333333333333", list: [null], length: 2, same: null },
    ...{ isolation: "read committed", idle: "0" },
  };
  const sql = connect(other.url, { max: 1, applicationName: "named" });
  const client = new pg.Client({ connectionString: withSession(other.url) });
  await client.connect();
  try {
    expect(await sql.unsafe(question)).toEqual([expected]);
    expect((await client.query(question)).rows).toEqual([expected]);
  } finally {
    await Promise.all([sql.end(), client.end()]);
  }
});

test("a connection lives for five to ten minutes, unless its session must last", () => {
  const lifetimeOf = (options: Partial<ConnectOptions>) => {
    const { max_lifetime: lifetime } = named(options).options as { max_lifetime: unknown };
    return typeof lifetime === "function" ? (lifetime() as number) : lifetime;
  };
  const lifetimes = Array.from({ length: 20 }, () => lifetimeOf({}) as number);
  expect(Math.min(...lifetimes)).toBeGreaterThanOrEqual(300);
  expect(Math.max(...lifetimes)).toBeLessThanOrEqual(600);
  expect(lifetimeOf({ lasting: true })).toBeNull();
});

test("a notice of the server is passed on and not printed", async () => {
  const notices: unknown[] = [];
  await named({ onNotice: (notice) => notices.push(notice) })`drop table if exists does_not_exist`;
  expect(notices).toMatchObject([{ code: "00000", message: 'table "does_not_exist" does not exist, skipping' }]);
});

test("arrays are sent to the database and read back", async () => {
  const texts = ["a", 'with "quotes" and \\', "{},", "NULL", "", "two\nlines", "é😀", null];
  const [row] = await database.sql`
    select ${texts}::text[] as texts, ${[]}::text[] as empty, ${[1, -2, null]}::integer[] as integers,
      ${["9007199254740993"]}::bigint[] as bigints, ${[0.5, 1e300]}::double precision[] as doubles,
      array[true, false] as booleans, array['\\x00ff'::bytea] as bytes, array['{"a": [1, "\\""]}'::jsonb] as documents,
      array['2026-03-02T10:00:00Z'::timestamptz] as instants, array[[1, 2], [3, 4]] as nested, '[0:1]={5,6}'::integer[] as bounds`;
  const nested = [1, 3].map((n) => [n, n + 1]);
  expect(row).toEqual({
    ...{ texts, empty: [], integers: [1, -2, null], bigints: ["9007199254740993"], doubles: [0.5, 1e300] },
    ...{ booleans: [true, false], bytes: [Buffer.from([0, 255])], documents: [{ a: [1, '"'] }] },
    ...{ instants: [new Date("2026-03-02T10:00:00Z")], nested, bounds: [5, 6] },
  });
});
