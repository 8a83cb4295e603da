import { readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Constraints } from "../api/operator.js";

/** An SQL file; `name` is its path relative to the project's root, with slashes. */
export interface SqlFile {
  name: string;
  text: string;
}

/** The files listed in `sql/install.json`, to be executed in order once the tables exist. */
export interface Install {
  code: SqlFile[];
  roles: SqlFile[];
}

/** A released migration: its number as graphile-migrate records it (`000001.sql`), and its hash. */
export interface Committed {
  filename: string;
  hash: string;
}

/** The directory of `sql/` and `migrations/`; the same from `src` and from `dist`. */
export const PROJECT_ROOT = fileURLToPath(new URL("../../../", import.meta.url));

export async function readInstall(root: string): Promise<Install> {
  const list = JSON.parse(await readFile(path.join(root, "sql/install.json"), "utf8")) as Record<string, string[]>;
  const read = (names: string[] = []) =>
    Promise.all(names.map(async (name) => ({ name, text: await readFile(path.join(root, name), "utf8") })));
  const [code, roles] = await Promise.all([read(list["code"]), read(list["roles"])]);
  return { code, roles };
}

/** The indexes of our tables, those of keys and unique constraints included, as `schema.name`: what `sql/schema` creates. */
export async function readIndexNames(): Promise<string[]> {
  const texts = await readTexts("sql/schema");
  return texts.flatMap((text) => [
    ...[...text.matchAll(/^create (?:unique )?index (\w+) on (\w+)\./gm)].map(
      ([, name, schema]) => `${schema}.${name}`,
    ),
    ...tablesOf(text).flatMap(({ schema, table, body }) => {
      const named = [...body.matchAll(/\bconstraint (\w+) (?:unique|primary key)\b/g)].map(([, name]) => name);
      const unnamed = /(?<!\bconstraint \w+ )\bprimary key\b/.test(body) ? [`${table}_pkey`] : [];
      return [...named, ...unnamed].map((name) => `${schema}.${name}`);
    }),
  ]);
}

/** The foreign keys and triggers of our tables: what `sql/schema` and `sql/triggers` create. */
export async function readConstraints(): Promise<Constraints> {
  const [schema, triggers] = await Promise.all([readTexts("sql/schema"), readTexts("sql/triggers")]);
  return {
    foreignKeys: schema.flatMap(tablesOf).flatMap(({ schema, table, body }) => {
      const named = [...body.matchAll(/\bconstraint (\w+) foreign key\b/g)].map(([, name]) => name);
      // Of a column, PostgreSQL makes the name.
      const unnamed = [...body.matchAll(/^ +(?!constraint\b)(\w+) .*\breferences\b/gm)].map(
        ([, column]) => `${table}_${column}_fkey`,
      );
      return [...named, ...unnamed].map((name) => `${schema}.${table}.${name}`);
    }),
    triggers: triggers.flatMap((text) =>
      [...text.matchAll(/^create or replace trigger (\w+)\n[^;]*? on (\w+\.\w+)\n/gm)].map(
        ([, name, table]) => `${table}.${name}`,
      ),
    ),
  };
}

/** The tables that a file creates, with the text between the parentheses. */
function tablesOf(text: string) {
  return [...text.matchAll(/^create table (\w+)\.(\w+) \(\n([^]*?)\n\)/gm)].map(
    ([, schema = "", table = "", body = ""]) => ({ schema, table, body }),
  );
}

async function readTexts(folder: string): Promise<string[]> {
  const directory = path.join(PROJECT_ROOT, folder);
  return Promise.all((await readdir(directory)).map((name) => readFile(path.join(directory, name), "utf8")));
}

/** The released migrations, oldest first. */
export async function readCommitted(root: string): Promise<Committed[]> {
  const directory = path.join(root, "migrations/committed");
  const names = (await readdir(directory)).filter((name) => /^\d+.*\.sql$/.test(name)).sort();
  return Promise.all(
    names.map(async (name) => {
      const text = await readFile(path.join(directory, name), "utf8");
      const hash = /^--! Hash: (\S+)$/m.exec(text)?.[1];
      if (hash === undefined) throw new Error(`migrations/committed/${name} has no "--! Hash:" line`);
      return { filename: `${/^\d+/.exec(name)?.[0]}.sql`, hash };
    }),
  );
}
