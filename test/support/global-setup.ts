import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { installFresh, migrate } from "../../src/db/migrate.js";
import { startTestServer } from "./server.js";

declare module "vitest" {
  export interface ProvidedContext {
    /** Of the run's server: a URL to administer it with, the migrated template, and the prefix of names to use. */
    database: { url: string; template: string; prefix: string };
  }
}

const APPLICATION = "svc test";

/**
 * For the whole run: one server, one migrated template, which test/support/database.ts clones per test file, and one build of the programs
 * that tests start as processes.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startTestServer();
  const run = randomBytes(4).toString("hex");
  const prefix = `svc_test_${run}_`;
  // Held open for the length of the run: by its application name a later run sees that ours lives.
  const admin = new pg.Client({ connectionString: server.url, application_name: `${APPLICATION} ${run}` });
  admin.on("error", (error) => console.error(`the tests' server ended a connection: ${error.message}`));
  const teardown = async () => {
    await dropDatabases(admin, prefix);
    await admin.end();
    await server.stop();
  };
  await admin.connect();
  try {
    const template = `${prefix}template`;
    await dropLeftovers(admin);
    await admin.query(`create database ${template} encoding 'UTF8' template template0`);
    await Promise.all([buildTemplate(withDatabase(server.url, template)), buildPrograms()]);
    // Who watches saves sources that do not build yet; that must not end the watch.
    project.onTestsRerun(() => buildPrograms().catch((error: unknown) => console.error(String(error))));
    project.provide("database", { url: server.url, template, prefix });
  } catch (error) {
    await teardown(); // vitest calls the one that is returned only
    throw error;
  }
  return teardown;
}

/** By the migrations, as everywhere; while they lag behind an sql/schema that is being worked on, from that. */
async function buildTemplate(url: string): Promise<void> {
  const lag = await migrationLag();
  if (lag === null) await migrate(url);
  else {
    console.warn(lag);
    await installFresh(url);
  }
}

async function migrationLag(): Promise<string | null> {
  try {
    await runScript("release-migration.js", "--check");
    return null;
  } catch (error) {
    return (error as { stderr?: string }).stderr ?? String(error);
  }
}

/** Writes only what changed, so that it costs next to nothing where no test starts a process. */
async function buildPrograms(): Promise<void> {
  await runScript("build.js");
}

async function runScript(name: string, ...options: string[]): Promise<void> {
  const script = fileURLToPath(new URL(`../../scripts/${name}`, import.meta.url));
  await promisify(execFile)(process.execPath, [script, ...options]);
}

/** Databases of runs that were killed, on a server that outlives a run. */
async function dropLeftovers(admin: pg.Client): Promise<void> {
  const { rows } = await admin.query<{ run: string }>(
    `select distinct substring(datname from '^svc_test_([0-9a-f]{8})_') as run from pg_database
     where datname ~ '^svc_test_[0-9a-f]{8}_'`,
  );
  for (const { run } of rows) {
    const alive = await admin.query("select from pg_stat_activity where application_name = $1", [
      `${APPLICATION} ${run}`,
    ]);
    if (alive.rowCount === 0) await dropDatabases(admin, `svc_test_${run}_`);
  }
}

async function dropDatabases(admin: pg.Client, prefix: string): Promise<void> {
  const { rows } = await admin.query<{ datname: string }>(
    "select datname from pg_database where starts_with(datname, $1)",
    [prefix],
  );
  for (const { datname } of rows)
    await admin.query(`drop database if exists ${pg.escapeIdentifier(datname)} with (force)`);
}

function withDatabase(url: string, database: string): string {
  const changed = new URL(url);
  changed.pathname = `/${database}`;
  return changed.href;
}
