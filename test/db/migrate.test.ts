import { appendFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import pg from "pg";
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { MigrateError } from "../../src/db/migrate/execute.js";
import { migrate } from "../../src/db/migrate/migrate.js";
import { describeCatalog } from "../support/catalog.js";
import { createDatabase, createEmptyDatabase, setUnusualDefaults, type TestDatabase } from "../support/database.js";
import { waitingForLock } from "../support/locks.js";
import { installFresh, migrateUnreleased } from "../support/migrate.js";
import { temporaryDirectory } from "../support/server.js";
import { makeThisVersion } from "./upgrade/next-version.js";

const ofThisVersion = await makeThisVersion();
afterAll(() => rm(ofThisVersion, { recursive: true, force: true }));

let database: TestDatabase;
beforeEach(async () => void (database = await createEmptyDatabase()));
afterEach(() => database.drop());

describe("the project's own database", () => {
  test("processes that start at once migrate it once, and a later one finds nothing to do", async () => {
    const reports = await Promise.all([1, 2].map(() => migrate(database.url, { root: ofThisVersion })));
    const [first, ...more] = reports.filter(({ migrations }) => migrations.length > 0);
    expect(first).toMatchObject({ code: "applied", roles: true, notes: [] });
    expect(first!.migrations[0]).toBe("000001.sql");
    expect(more).toEqual([]);
    expect(reports.filter(({ code }) => code === "applied")).toHaveLength(1);
    const unchanged = { migrations: [], code: "unchanged", roles: true, notes: [] };
    expect(await migrate(database.url, { root: ofThisVersion })).toEqual(unchanged);
  });

  test("built from sql/schema, it equals one built by all migrations, unreleased ones included, whatever the database's settings", async () => {
    const other = await createEmptyDatabase();
    try {
      await setUnusualDefaults(other);
      await migrateUnreleased(database.url);
      await installFresh(other.url);
      const catalog = await describeCatalog(database.sql);
      expect(await describeCatalog(other.sql)).toEqual(catalog);
      expect(await migrate(other.url)).toMatchObject({ migrations: [], code: "unchanged" });
      // Unreleased migrations are executed repeatedly during development.
      await migrateUnreleased(database.url);
      expect(await describeCatalog(database.sql)).toEqual(catalog);
      await other.sql`comment on schema svc is 'Another one.'`;
      expect(await describeCatalog(other.sql)).not.toEqual(catalog);
    } finally {
      await other.drop();
    }
  });
});

const FIRST = "sha1:7f4cf1c7cfd2af4e4a4c6eddf24d2f05a2bc4c1a";

describe("a project of one table and one function", () => {
  let root: string;
  const code = () => path.join(root, "sql/functions/answer.sql");

  beforeEach(async () => {
    root = await temporaryDirectory();
    await mkdir(path.join(root, "migrations/committed"), { recursive: true });
    await mkdir(path.join(root, "sql/functions"), { recursive: true });
    await writeFile(code(), "create or replace function answer() returns int language sql immutable return 42;\n");
    const install = { schema: [], code: ["sql/functions/answer.sql"], roles: [] };
    await writeFile(path.join(root, "sql/install.json"), JSON.stringify(install));
    await commit("000001.sql", "-", FIRST, "create table things (id int);");
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  /** Writes the migration after the first. */
  const commitNext = (sql: string) => commit("000002.sql", FIRST, "sha1:b", sql);

  /** Writes a committed migration with any hash in its header. */
  async function commit(filename: string, previous: string, hash: string, sql: string): Promise<void> {
    const text = `--! Previous: ${previous}\n--! Hash: ${hash}\n--! AllowInvalidHash\n\n${sql}\n`;
    await writeFile(path.join(root, "migrations/committed", filename), text);
  }

  test("changed code is applied again, unchanged code is not, and broken code is named with file and line", async () => {
    await migrate(database.url, { root });
    await writeFile(code(), (await readFile(code(), "utf8")).replace("42", "43"));
    expect(await migrate(database.url, { root })).toMatchObject({ migrations: [], code: "applied" });
    expect(await migrate(database.url, { root })).toMatchObject({ code: "unchanged" });
    await writeFile(code(), (await readFile(code(), "utf8")).replace("43", "44"));
    await appendFile(code(), "\n\nselect nothing_like_it();\n");
    await expect(migrate(database.url, { root })).rejects.toThrow(
      "sql/functions/answer.sql:4: function nothing_like_it() does not exist (42883)",
    );
    expect(await database.sql`select answer()`).toEqual([{ answer: 43 }]);
  });

  test("a failing migration, and a database of another build, change nothing", async () => {
    await migrate(database.url, { root });
    await commitNext("drop table things; drop table no_such;");
    await expect(migrate(database.url, { root })).rejects.toThrow('table "no_such" does not exist (42P01)');
    await commit("000001.sql", "-", "sha1:other", "drop table things;");
    await expect(migrate(database.url, { root })).rejects.toThrow("the database was made by a different build");
    expect(await database.sql`select id from things`).toEqual([]);
  });

  test("a migration can take longer, and wait longer between statements, than the database's limits allow", async () => {
    const name = new URL(database.url).pathname.slice(1);
    await database.sql`alter database ${database.sql(name)} set statement_timeout = '200ms'`;
    await database.sql`alter database ${database.sql(name)} set idle_in_transaction_session_timeout = '1ms'`;
    await commit("000001.sql", "-", FIRST, "select pg_sleep(0.5);");
    expect(await migrate(database.url, { root })).toMatchObject({ migrations: ["000001.sql"] });
  });

  test("a migration whose connection breaks says so in one line, and can be started again", async () => {
    await migrate(database.url, { root });
    const ending = "select pg_terminate_backend(pg_backend_pid());";
    const fails = async () => {
      const error: unknown = await migrate(database.url, { root }).catch((reason: unknown) => reason);
      expect(error).toBeInstanceOf(MigrateError);
      expect((error as Error).message).toMatch(
        /^.*; the connection to the database broke: start again when its server runs$/,
      );
    };
    await commitNext(`create table more (); ${ending}`);
    await fails();
    await commitNext("create table more ();");
    await appendFile(code(), ending);
    await fails();
    await writeFile(code(), (await readFile(code(), "utf8")).replace(ending, ""));
    expect(await migrate(database.url, { root })).toMatchObject({ code: "unchanged" });
    expect(await database.sql`select from more`).toEqual([]);
  });

  /** Holds the lock of a statement on `things` until the returned function is called. */
  async function holdThings(): Promise<() => Promise<void>> {
    const other = new pg.Client({ connectionString: database.url });
    await other.connect();
    await other.query("begin; lock table things in row exclusive mode");
    return () => other.end();
  }

  const altered = () => commitNext("alter table things add column name text;");

  test("a migration that waits for a long transaction lets others pass, and completes once that ends", async () => {
    await migrate(database.url, { root });
    await altered();
    const release = await holdThings();
    const waits: string[] = [];
    const migrated = migrate(database.url, { root, onWait: (sentence) => waits.push(sentence) });
    await expect.poll(() => waitingForLock(database.sql), { timeout: 20_000 }).toBe(1);
    await database.sql`insert into things (id) values (1)`;
    await expect.poll(() => waits, { timeout: 20_000 }).not.toEqual([]);
    await release();
    expect(await migrated).toMatchObject({ migrations: ["000002.sql"] });
    expect(waits[0]).toBe(
      "the migration waits for a lock that another session holds, and tries again: migrations/committed: canceling statement due to lock timeout (55P03)",
    );
    expect(await database.sql`select id, name from things`).toEqual([{ id: 1, name: null }]);
  });

  test("a migration that never gets a lock says what to look for", async () => {
    await migrate(database.url, { root });
    await altered();
    const release = await holdThings();
    await expect(migrate(database.url, { root, waitMsMax: 0 })).rejects.toThrow(
      /^migrations\/committed: canceling statement due to lock timeout \(55P03\).*; another session has held a lock .* end it, and start again$/,
    );
    await release();
    expect(await migrate(database.url, { root })).toMatchObject({ migrations: ["000002.sql"] });
  });

  test("a user who cannot create roles gets a working database, and a notice", async () => {
    const user = `${database.name}_owner`;
    await database.sql.unsafe(`
      create role ${user} login password 'test';
      grant all on database ${database.name} to ${user};
      grant all on schema public to ${user};
    `);
    const { href } = Object.assign(new URL(database.url), { username: user, password: "test" });
    try {
      const report = await migrate(href, { root });
      expect(report).toMatchObject({ code: "applied", roles: false });
      expect(report.notes).toContainEqual(expect.stringContaining(`everything runs as ${user}`));
      expect(await migrate(href, { root })).toMatchObject({ code: "unchanged", roles: false });
    } finally {
      await database.sql.unsafe(`reassign owned by ${user} to current_user; drop owned by ${user}; drop role ${user}`);
    }
  });
});

test("graphile-worker's migrations let processes that use the queue pass, and complete once a long transaction ends", async () => {
  const copy = await createDatabase();
  onTestFinished(() => copy.drop());
  // As before its migration 18, which drops this trigger.
  await copy.sql.unsafe(`
    delete from graphile_worker.migrations where id >= 18;
    create function graphile_worker.tg_jobs__after_insert() returns trigger language plpgsql as 'begin return null; end';
    create trigger _900_after_insert after insert on graphile_worker._private_jobs
    execute function graphile_worker.tg_jobs__after_insert();
  `);
  const other = new pg.Client({ connectionString: copy.url });
  await other.connect();
  await other.query("begin; select graphile_worker.add_job('long')");
  const waits: string[] = [];
  const migrated = migrate(copy.url, { onWait: (sentence) => waits.push(sentence) });
  await expect.poll(() => waitingForLock(copy.sql), { timeout: 20_000 }).toBe(1);
  await copy.sql`select graphile_worker.add_job('short')`;
  await expect.poll(() => waits, { timeout: 20_000 }).not.toEqual([]);
  await other.query("commit");
  await other.end();
  await migrated;
  expect(waits[0]).toBe(
    "the migration waits for a lock that another session holds, and tries again: graphile-worker's own migration: canceling statement due to lock timeout (55P03)",
  );
  expect(await copy.sql`select max(id) from graphile_worker.migrations`).toEqual([{ max: 19 }]);
});

test("a function that was dropped is created again, with its grants", async () => {
  const copy = await createDatabase();
  onTestFinished(() => copy.drop());
  await copy.sql.unsafe("drop function svc_api.metrics()");
  expect(await migrate(copy.url)).toMatchObject({ code: "applied" });
  const [row] = await copy.sql`select has_function_privilege('svc_http', 'svc_api.metrics()', 'execute') as granted`;
  expect(row).toEqual({ granted: true });
  expect(await migrate(copy.url)).toMatchObject({ code: "unchanged" });
});

test("grants that a copy lacks are applied again, and with `again` everything that was dropped", async () => {
  const copy = await createDatabase();
  onTestFinished(() => copy.drop());
  expect(await migrate(copy.url)).toMatchObject({ code: "unchanged" });
  await copy.sql.unsafe("revoke usage on schema svc_inspect from svc_reader");
  expect(await migrate(copy.url)).toMatchObject({ code: "applied" });
  await copy.sql.unsafe("drop view svc_inspect.workers cascade");
  expect(await migrate(copy.url)).toMatchObject({ code: "unchanged" });
  expect(await migrate(copy.url, { again: true })).toMatchObject({ code: "applied" });
  expect(await copy.sql`select from svc_inspect.workers`).toEqual([]);
});

test("a database of another encoding is refused", async () => {
  const name = `${database.name}_latin1`;
  await database.sql.unsafe(`create database ${name} encoding 'LATIN1' locale 'C' template template0`);
  try {
    const url = Object.assign(new URL(database.url), { pathname: `/${name}` });
    await expect(migrate(url.href)).rejects.toThrow("the database's encoding is LATIN1; create it with encoding UTF8");
  } finally {
    await database.sql.unsafe(`drop database ${name} with (force)`);
  }
});
