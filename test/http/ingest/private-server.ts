import { rm } from "node:fs/promises";
import { connect } from "../../../src/db/connect.js";
import { DATABASE, openCluster, SUPERUSER } from "../../../src/db/embedded/cluster.js";
import { findPostmaster, halt, launch } from "../../../src/db/embedded/postmaster.js";
import type { TestDatabase } from "../../support/database.js";
import { migrateUnreleased } from "../../support/migrate.js";
import { temporaryDirectory } from "../../support/server.js";

/** Starts a database server for one test, which can be paused. */
export async function startPrivateServer() {
  const directory = await temporaryDirectory();
  const settings = { shared_buffers: "32MB", fsync: "off", autovacuum: "off" };
  const cluster = await openCluster(directory, { sync: false, settings });
  const postmaster = async (): Promise<{ pid: number; port: number }> => {
    const found = await findPostmaster(cluster);
    if (found === null) throw new Error("the test's server does not run");
    return found;
  };
  await launch(cluster);
  const { port } = await postmaster();
  const addressOf = (name: string): string => `postgres://${SUPERUSER}:${cluster.password}@127.0.0.1:${port}/${name}`;
  const maintenance = connect(addressOf("postgres"), { max: 1, applicationName: "svc test" });
  await maintenance.unsafe(`create database ${DATABASE}`);
  await maintenance.end();
  const url = addressOf(DATABASE);
  await migrateUnreleased(url);
  const sql = connect(url, { max: 4, applicationName: "svc test" });
  let paused: number[] = [];
  const resume = (): void => {
    for (const pid of paused.splice(0)) process.kill(pid, "SIGCONT");
  };
  const database: TestDatabase = {
    ...{ url, name: DATABASE, sql },
    /** Ends the server. */
    drop: async () => {
      resume();
      await sql.end({ timeout: 0 });
      await halt(cluster);
      await rm(directory, { recursive: true, force: true });
    },
  };
  return {
    database,
    /** Suspends all its processes. */
    pause: async () => {
      const processes = await sql<{ pid: number }[]>`select pid from pg_stat_activity`;
      paused = [(await postmaster()).pid, ...processes.map(({ pid }) => pid)];
      for (const pid of paused) process.kill(pid, "SIGSTOP");
    },
    resume,
  };
}
