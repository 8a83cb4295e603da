import { appendFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { installFresh, migrate } from "../../src/db/migrate.js";
import { describeCatalog } from "../support/catalog.js";
import { createEmptyDatabase, type TestDatabase } from "../support/database.js";
import { temporaryDirectory } from "../support/server.js";

let database: TestDatabase;
beforeEach(async () => void (database = await createEmptyDatabase()));
afterEach(() => database.drop());

describe("the project's own database", () => {
  test("a second migration finds nothing to do", async () => {
    const first = await migrate(database.url);
    expect(first).toMatchObject({ code: "applied", roles: true, notes: [] });
    expect(first.migrations[0]).toBe("000001.sql");
    expect(await migrate(database.url)).toEqual({ migrations: [], code: "unchanged", roles: true, notes: [] });
  });

  test("processes that start at once migrate it once", async () => {
    const reports = await Promise.all([migrate(database.url), migrate(database.url), migrate(database.url)]);
    expect(reports.filter(({ migrations }) => migrations.length > 0)).toHaveLength(1);
    expect(reports.filter(({ code }) => code === "applied")).toHaveLength(1);
  });

  test("built from sql/schema it equals one brought along by the migrations", async () => {
    const other = await createEmptyDatabase();
    try {
      await migrate(database.url);
      await installFresh(other.url);
      expect(await describeCatalog(other.sql)).toEqual(await describeCatalog(database.sql));
      expect(await migrate(other.url)).toMatchObject({ migrations: [], code: "unchanged" });
      await other.sql`comment on schema svc is 'Another one.'`;
      expect(await describeCatalog(other.sql)).not.toEqual(await describeCatalog(database.sql));
    } finally {
      await other.drop();
    }
  });
});

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
    await commit("000001.sql", "-", "sha1:7f4cf1c7cfd2af4e4a4c6eddf24d2f05a2bc4c1a", "create table things (id int);");
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  /** Writes a committed migration; the header lets its hash be anything. */
  async function commit(filename: string, previous: string, hash: string, sql: string): Promise<void> {
    const text = `--! Previous: ${previous}\n--! Hash: ${hash}\n--! AllowInvalidHash\n\n${sql}\n`;
    await writeFile(path.join(root, "migrations/committed", filename), text);
  }

  test("changed code is applied again, unchanged code is not", async () => {
    await migrate(database.url, { root });
    await writeFile(code(), (await readFile(code(), "utf8")).replace("42", "43"));
    expect(await migrate(database.url, { root })).toMatchObject({ migrations: [], code: "applied" });
    expect(await database.sql`select answer()`).toEqual([{ answer: 43 }]);
    expect(await migrate(database.url, { root })).toMatchObject({ code: "unchanged" });
  });

  test("broken code changes nothing and is named with file and line", async () => {
    await migrate(database.url, { root });
    await writeFile(code(), (await readFile(code(), "utf8")).replace("42", "43"));
    await appendFile(code(), "\n\nselect nothing_like_it();\n");
    await expect(migrate(database.url, { root })).rejects.toThrow(
      "sql/functions/answer.sql:4: function nothing_like_it() does not exist (42883)",
    );
    expect(await database.sql`select answer()`).toEqual([{ answer: 42 }]);
  });

  test("a later migration brings an older database forward", async () => {
    await migrate(database.url, { root });
    await commit(
      "000002.sql",
      "sha1:7f4cf1c7cfd2af4e4a4c6eddf24d2f05a2bc4c1a",
      "sha1:b",
      "alter table things add name text;",
    );
    expect(await migrate(database.url, { root })).toMatchObject({ migrations: ["000002.sql"] });
    expect(await database.sql`select id, name from things`).toEqual([]);
  });

  test("a migration that fails leaves the database where it was", async () => {
    await migrate(database.url, { root });
    await commit(
      "000002.sql",
      "sha1:7f4cf1c7cfd2af4e4a4c6eddf24d2f05a2bc4c1a",
      "sha1:b",
      "drop table things; drop table no_such;",
    );
    await expect(migrate(database.url, { root })).rejects.toThrow('table "no_such" does not exist (42P01)');
    expect(await database.sql`select id from things`).toEqual([]);
  });

  test("a database newer than the program is refused in one line", async () => {
    await commit("000002.sql", "sha1:7f4cf1c7cfd2af4e4a4c6eddf24d2f05a2bc4c1a", "sha1:b", "select 1;");
    await migrate(database.url, { root });
    await rm(path.join(root, "migrations/committed/000002.sql"));
    await expect(migrate(database.url, { root })).rejects.toThrow(
      "the database is newer than this program: it has migration 000002.sql, the newest known here is 000001.sql; " +
        "install the version that made it, or a later one",
    );
  });

  test("a database of another build is refused", async () => {
    await migrate(database.url, { root });
    await commit("000001.sql", "-", "sha1:other", "create table others (id int);");
    await expect(migrate(database.url, { root })).rejects.toThrow("the database was made by a different build");
  });

  test("a user who may not create roles gets a database that works, and is told", async () => {
    const { user, url } = await limitedUser();
    try {
      const report = await migrate(url, { root });
      expect(report).toMatchObject({ code: "applied", roles: false });
      expect(report.notes).toContainEqual(expect.stringContaining(`everything runs as ${user}`));
      expect(await migrate(url, { root })).toMatchObject({ code: "unchanged", roles: false });
    } finally {
      await database.sql.unsafe(`reassign owned by ${user} to current_user; drop owned by ${user}; drop role ${user}`);
    }
  });

  async function limitedUser(): Promise<{ user: string; url: string }> {
    const user = `${database.name}_owner`;
    await database.sql.unsafe(`
      create role ${user} login password 'test';
      grant all on database ${database.name} to ${user};
      grant all on schema public to ${user};
    `);
    const url = new URL(database.url);
    url.username = user;
    url.password = "test";
    return { user, url: url.href };
  }
});

test("a database of another encoding is refused", async () => {
  const name = `${database.name}_latin1`;
  await database.sql.unsafe(`create database ${name} encoding 'LATIN1' locale 'C' template template0`);
  try {
    const url = new URL(database.url);
    url.pathname = `/${name}`;
    await expect(migrate(url.href)).rejects.toThrow("the database's encoding is LATIN1; create it with encoding UTF8");
  } finally {
    await database.sql.unsafe(`drop database ${name} with (force)`);
  }
});
