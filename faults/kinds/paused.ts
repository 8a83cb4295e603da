import { setTimeout as delay } from "node:timers/promises";
import type { Server } from "../stage/server.js";
import { pidsOf } from "./cluster.js";
import type { Fault, Target } from "./fault.js";
import { kill } from "./kill.js";

/** Mostly shorter than the lease of a webhook, which lasts 15 s; now and then longer. */
const LONG_CHANCE = 0.1;

/** Every process of PostgreSQL stands still for a while and then goes on, as in a virtual machine that is moved. */
export const databasePaused: Fault = {
  name: "PostgreSQL paused",
  strike: (target) => pause(target.server, target),
};

/** Stops all processes of a server, and lets them go on after a while. */
export async function pause(server: Server, { random, signal }: Pick<Target, "random" | "signal">): Promise<void> {
  const pids = await pidsOf(server);
  for (const pid of pids) kill(pid, "SIGSTOP");
  try {
    await delay(random.chance(LONG_CHANCE) ? 20_000 : random.between(300, 3_000), undefined, { signal });
  } finally {
    for (const pid of pids) kill(pid, "SIGCONT");
  }
}
