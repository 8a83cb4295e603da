import type { Server } from "../stage/server.js";
import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** Kills every process of PostgreSQL at once: what is not in the write-ahead log is lost. */
export const clusterKilled: Fault = {
  name: "all of PostgreSQL killed",
  strike: ({ server }) => killAll([server]),
};

/** Kills every process of these servers. */
export async function killAll(servers: readonly Server[]): Promise<void> {
  // Find all before killing any.
  const pids = await Promise.all(servers.map(pidsOf));
  for (const pid of pids.flat()) kill(pid);
}

/** The process ids of a server; the postmaster first, so that it starts no further processes once it is stopped or killed. */
export async function pidsOf(server: Server): Promise<number[]> {
  const processes = await server.processes();
  return [(await server.postmaster()).pid, ...processes.map(({ pid }) => pid)];
}
