import { rm } from "node:fs/promises";
import { vi } from "vitest";
import { connect } from "../../../src/db/connect.js";
import { DATABASE, openCluster, SUPERUSER } from "../../../src/db/embedded/cluster.js";
import { findPostmaster, halt, launch } from "../../../src/db/embedded/postmaster.js";
import { installFresh } from "../../../src/db/migrate/migrate.js";
import type { TestDatabase } from "../../support/database.js";
import { temporaryDirectory } from "../../support/server.js";

/** A server of a test's own, to be stopped in every way. */
export interface PrivateServer {
  /** Its database; `drop` ends the server. */
  database: TestDatabase;
  /** Stops all its processes in the middle of what they do. */
  pause(): Promise<void>;
  resume(): void;
  /** Kills it without warning. */
  kill(): Promise<void>;
  /** Starts it again at the same address. */
  start(): Promise<void>;
}

export async function startPrivateServer(): Promise<PrivateServer> {
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
  await installFresh(url);
  const sql = connect(url, { max: 4, applicationName: "svc test" });
  let paused: number[] = [];
  const resume = (): void => {
    for (const pid of paused.splice(0)) process.kill(pid, "SIGCONT");
  };
  return {
    database: {
      url,
      name: DATABASE,
      sql,
      drop: async () => {
        resume();
        await sql.end({ timeout: 0 });
        await halt(cluster);
        await rm(directory, { recursive: true, force: true });
      },
    },
    pause: async () => {
      const processes = await sql<{ pid: number }[]>`select pid from pg_stat_activity`;
      paused = [(await postmaster()).pid, ...processes.map(({ pid }) => pid)];
      for (const pid of paused) process.kill(pid, "SIGSTOP");
    },
    resume,
    kill: async () => void process.kill((await postmaster()).pid, "SIGKILL"),
    start: async () => {
      await vi.waitUntil(() => launch(cluster), { timeout: 30_000 });
    },
  };
}
