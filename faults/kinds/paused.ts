import { setTimeout as delay } from "node:timers/promises";
import type { Fault } from "./fault.js";
import { kill } from "./kill.js";

/** Mostly shorter than the lease of a webhook, which lasts 15 s; now and then longer. */
const LONG_CHANCE = 0.1;

/** Every process of PostgreSQL stands still for a while and then goes on, as in a virtual machine that is moved. */
export const databasePaused: Fault = {
  name: "PostgreSQL paused",
  strike: async ({ cluster, random, signal }) => {
    const processes = await cluster.processes();
    // The postmaster first, so that it starts no further ones.
    const pids = [(await cluster.postmaster()).pid, ...processes.map(({ pid }) => pid)];
    for (const pid of pids) kill(pid, "SIGSTOP");
    try {
      await delay(random.chance(LONG_CHANCE) ? 20_000 : random.between(300, 3_000), undefined, { signal });
    } finally {
      for (const pid of pids) kill(pid, "SIGCONT");
    }
  },
};
