import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { rm } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import pg from "pg";
import type { TestProject } from "vitest/node";
import { installPack } from "../../src/db/migrate/packs.js";
import { closeDatabase, createClusterDatabase, findNodes, onEachNode, withDatabase } from "./citus.js";
import { startDebianServer } from "./debian-server.js";
import { leaksInWords, searchLogs } from "./leaks.js";
import { migrateUnreleased } from "./migrate.js";
import { removeLeftovers, startTestServer, temporaryDirectory, type TestServer } from "./server.js";

declare module "vitest" {
  export interface ProvidedContext {
    /** The run's server: a URL to administer it, its nodes, the migrated template, and the prefix of names to use. */
    database: { url: string; nodes: readonly string[]; template: string; prefix: string };
    /** The directory of the run's logs. */
    logs: string;
  }
}

const APPLICATION = "svc test";

/**
 * For the whole run: one server; one template, created by the migrations, which test/support/database.ts clones for each test file; and one
 * build of the programs that tests start as processes. At the end it searches all logs of the service for secrets, and fails the run if it
 * finds any.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const server = await startServer();
  const logs = await temporaryDirectory();
  const run = randomBytes(4).toString("hex");
  const prefix = `svc_test_${run}_`;
  // Kept open during the run: by its application name another run sees that this one is alive.
  const admin = new pg.Client({ connectionString: server.url, application_name: `${APPLICATION} ${run}` });
  admin.on("error", (error) => console.error(`the tests' server ended a connection: ${error.message}`));
  const teardown = async () => {
    await dropDatabases(admin, prefix);
    await admin.end();
    await server.stop();
    await checkLogs(logs);
  };
  await admin.connect();
  try {
    const nodes = await findNodes(server.url);
    const template = `${prefix}template`;
    await dropLeftovers(admin);
    await Promise.all([makeTemplate(nodes, template), buildPrograms()]);
    // In watch mode, sources that do not build yet must not end the watch.
    project.onTestsRerun(() => buildPrograms().catch((error: unknown) => console.error(String(error))));
    project.provide("logs", logs);
    project.provide("database", { url: server.url, nodes, template, prefix });
  } catch (error) {
    await teardown(); // vitest calls only a teardown that was returned
    throw error;
  }
  return teardown;
}

/** Creates the template; on a cluster its tables are distributed over the nodes. */
async function makeTemplate(nodes: readonly string[], name: string): Promise<void> {
  const [server = "", ...workers] = nodes;
  const url = withDatabase(server, name);
  if (workers.length === 0) {
    await onEachNode(nodes, `create database ${name} encoding 'UTF8' template template0`);
    await migrateUnreleased(url);
    return;
  }
  await createClusterDatabase(nodes, name);
  await migrateUnreleased(url);
  await installPack(url, "citus");
  await closeDatabase(nodes, name);
}

/** With TEST_POSTGRES=15, Debian's PostgreSQL 15 and no other. */
async function startServer(): Promise<TestServer> {
  await removeLeftovers();
  const wanted = process.env["TEST_POSTGRES"] ?? "";
  if (wanted === "") return startTestServer();
  const server = wanted === "15" ? await startDebianServer() : "the tests can start only 15, besides the embedded one";
  if (typeof server === "string") throw new Error(`TEST_POSTGRES=${wanted} is not available: ${server}`);
  return server;
}

/** Removes the run's logs, or fails the run if they contain a secret. Vitest only prints what a teardown throws, so this sets the exit code. */
async function checkLogs(directory: string): Promise<void> {
  const leaks = await searchLogs(directory);
  if (leaks.length === 0) return rm(directory, { recursive: true });
  process.exitCode = 1;
  throw new Error(leaksInWords(leaks));
}

/** Writes only what changed, so it takes almost no time if no test starts a process. */
async function buildPrograms(): Promise<void> {
  const script = fileURLToPath(new URL("../../scripts/build.js", import.meta.url));
  await promisify(execFile)(process.execPath, [script]);
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
