/** The embedded PostgreSQL of a data directory. The service starts and restarts it. */
import { access } from "node:fs/promises";
import path from "node:path";
import { DATABASE, openCluster, SUPERUSER } from "../../src/db/embedded/cluster.js";
import { halt } from "../../src/db/embedded/postmaster.js";
import { Server } from "./server.js";

/** @param signal ends all waiting for the server */
export async function openEmbeddedServer(dataDir: string, signal: AbortSignal): Promise<Server> {
  const { data, password } = await openCluster(dataDir, {});
  return new Server({
    data,
    url: (port) => `postgres://${SUPERUSER}:${password}@127.0.0.1:${port}/${DATABASE}`,
    signal,
  });
}

/** Stops the server of a data directory if it runs. */
export async function endServer(dataDir: string): Promise<void> {
  try {
    await access(path.join(dataDir, "postgres", "data", "postmaster.pid"));
  } catch {
    return;
  }
  await halt(await openCluster(dataDir, {}));
}
