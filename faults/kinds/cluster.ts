import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** Every process of PostgreSQL at once: what is not in the write-ahead log is gone. */
export const clusterKilled: Fault = {
  name: "all of PostgreSQL killed",
  strike: async ({ cluster }) => {
    const processes = await cluster.processes();
    // The postmaster first, so that it starts no further ones.
    kill((await cluster.postmaster()).pid);
    for (const { pid } of processes) kill(pid);
  },
};
