import { execFile } from "node:child_process";
import { appendFile, cp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, test } from "vitest";
import { migrate } from "../../src/db/migrate/migrate.js";
import { readCommitted } from "../../src/db/migrate/files.js";
import { createEmptyDatabase } from "../support/database.js";
import { temporaryDirectory } from "../support/server.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const SCRIPT = path.join(ROOT, "scripts/release-migration.js");

/** A copy of the files that `migrate` reads, without unreleased migrations. */
let root: string;
const file = (name: string) => path.join(root, "migrations", name);
beforeEach(async () => {
  root = await temporaryDirectory();
  await cp(path.join(ROOT, "sql"), path.join(root, "sql"), { recursive: true });
  await cp(path.join(ROOT, "migrations/committed/000001.sql"), file("committed/000001.sql"));
  await writeFile(path.join(root, "sql/install.json"), JSON.stringify({ schema: [], code: [], roles: [] }));
  await writeFile(file("current.sql"), "");
});
afterEach(() => rm(root, { recursive: true, force: true }));

async function release(): Promise<{ code: number; stdout: string; stderr: string }> {
  try {
    return { code: 0, ...(await promisify(execFile)(process.execPath, [SCRIPT, path.join(root, "migrations")])) };
  } catch (error) {
    const { code, stdout, stderr } = error as { code: number; stdout: string; stderr: string };
    return { code, stdout, stderr };
  }
}

const refused = (line: string) => ({ code: 1, stdout: "", stderr: `${line}\n` });

test("the first migration is as it was released", async () => {
  expect((await readCommitted(ROOT))[0]).toEqual({
    filename: "000001.sql",
    hash: "sha1:37b132ba72feceaceb7f9f21a96b78fcdd94d623",
  });
});

test("current.sql becomes the next file of the chain, which databases then apply", async () => {
  await writeFile(file("current.sql"), "-- Of the release.\ncreate table if not exists public.one (id int);\n");
  expect(await release()).toEqual({
    code: 0,
    stdout: "wrote migrations/committed/000002.sql; it is never edited from now on\n",
    stderr: "",
  });
  await appendFile(file("current.sql"), "alter table public.one add column if not exists name text;\n");
  expect(await release()).toMatchObject({ code: 0 });
  expect(await readdir(file("committed"))).toEqual(["000001.sql", "000002.sql", "000003.sql"]);
  expect(await readFile(file("committed/000003.sql"), "utf8")).toMatch(
    /^--! Previous: sha1:[0-9a-f]{40}\n--! Hash: sha1:[0-9a-f]{40}\n\nalter table public\.one add column if not exists name text;\n$/,
  );
  const database = await createEmptyDatabase();
  try {
    expect(await migrate(database.url, { root })).toMatchObject({
      migrations: ["000001.sql", "000002.sql", "000003.sql"],
    });
    expect(await database.sql`select id, name from public.one`).toEqual([]);
  } finally {
    await database.drop();
  }
});

test("nothing is released without a statement, also after a release", async () => {
  const nothing = refused("migrations/current.sql has no statements; there is nothing to release");
  expect(await release()).toEqual(nothing);
  await writeFile(file("current.sql"), "-- create table one ();\n\n/* nor\nhere */\n");
  expect(await release()).toEqual(nothing);
  await writeFile(file("current.sql"), "create table one ();\n");
  await release();
  expect(await release()).toEqual(nothing);
  expect(await readdir(file("committed"))).toEqual(["000001.sql", "000002.sql"]);
});

test("nothing is released after a gap, or after a file that was edited", async () => {
  for (const name of ["one", "two"]) {
    await writeFile(file("current.sql"), `create table ${name} ();\n`);
    await release();
  }
  await rm(file("committed/000002.sql"));
  await writeFile(file("current.sql"), "create table three ();\n");
  expect(await release()).toEqual(refused("migrations/committed/000003.sql does not follow 000001.sql"));
  await appendFile(file("committed/000001.sql"), "create table four ();\n");
  expect(await release()).toEqual(refused("migrations/committed/000001.sql was edited after its release; restore it"));
});
