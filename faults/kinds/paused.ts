import { setTimeout as delay } from "node:timers/promises";
import type { Server } from "../stage/server.js";
import { pidsOf } from "./cluster.js";
import type { Fault, Target } from "./fault.js";
import { kill } from "./kill.js";

/** Most pauses are shorter than the lease of a webhook, which lasts 15 s; some are longer. */
const LONG_CHANCE = 0.1;

/** Pauses every process of PostgreSQL for a while, as in a virtual machine that is migrated. */
export const databasePaused: Fault = {
  name: "PostgreSQL paused",
  strike: (target) => pause(target.server, target),
};

/** Stops all processes of a server, and continues them after a while. */
export async function pause(server: Server, { random, signal }: Pick<Target, "random" | "signal">): Promise<void> {
  const pids = await pidsOf(server);
  for (const pid of pids) kill(pid, "SIGSTOP");
  try {
    await delay(random.chance(LONG_CHANCE) ? 20_000 : random.between(300, 3_000), undefined, { signal });
  } finally {
    for (const pid of pids) kill(pid, "SIGCONT");
  }
}
