import { execFile } from "node:child_process";
import { appendFile, cp, readFile, symlink, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { PROJECT_ROOT } from "../../../src/db/migrate/files.js";
import { temporaryDirectory } from "../../support/server.js";

/** Additions of the next version: columns of heavily used tables, and a changed function that every event passes through. */
const MIGRATION = `
alter table svc.customers add column if not exists next_version text;
comment on column svc.customers.next_version is 'Of the next version.';
alter table svc.ingest_batches add column if not exists next_version text default 'as before';
comment on column svc.ingest_batches.next_version is 'Of the next version.';
`;
const INGEST = "sql/functions/ingestion/ingest.sql";

/** Copies the built package to a new directory, as the version after this one. */
export async function makeNextVersion(): Promise<string> {
  const root = await copyPackage();
  await appendFile(path.join(root, "migrations/current.sql"), MIGRATION);
  await releaseMigration(root);
  const ingest = path.join(root, INGEST);
  const changed = (await readFile(ingest, "utf8")).replace(/\nbegin\n/, "\nbegin\n  -- As the next version has it.\n");
  await writeFile(ingest, changed);
  return root;
}

/** Copies the built package as it would be released now, with unreleased migrations in the chain. */
export async function makeThisVersion(): Promise<string> {
  const root = await copyPackage();
  const current = await readFile(path.join(root, "migrations/current.sql"), "utf8");
  if (/^(?!--)./m.test(current)) await releaseMigration(root);
  return root;
}

async function copyPackage(): Promise<string> {
  const root = await temporaryDirectory();
  for (const part of ["bin", "dist", "sql", "migrations", "docs", "package.json"]) {
    await cp(path.join(PROJECT_ROOT, part), path.join(root, part), { recursive: true });
  }
  await symlink(path.join(PROJECT_ROOT, "node_modules"), path.join(root, "node_modules"));
  return root;
}

async function releaseMigration(root: string): Promise<void> {
  const script = path.join(PROJECT_ROOT, "scripts/release-migration.js");
  await promisify(execFile)(process.execPath, [script, path.join(root, "migrations")]);
}
