import type { Server } from "../stage/server.js";
import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** Every process of PostgreSQL at once: what is not in the write-ahead log is gone. */
export const clusterKilled: Fault = {
  name: "all of PostgreSQL killed",
  strike: ({ server }) => killAll([server]),
};

/** Ends every process of all these servers. */
export async function killAll(servers: readonly Server[]): Promise<void> {
  // All are found before any is gone.
  const found = await Promise.all(servers.map(pidsOf));
  for (const pid of found.flat()) kill(pid);
}

/** The postmaster first: stopped or ended, it starts no further ones. */
export async function pidsOf(server: Server): Promise<number[]> {
  const processes = await server.processes();
  return [(await server.postmaster()).pid, ...processes.map(({ pid }) => pid)];
}
