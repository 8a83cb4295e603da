/** A lifecycle that changes back and forth by time alone, and an event so long ago that millions of transitions follow. */
import type { Snapshot } from "../../src/model/snapshot/types.js";
import { untilAborted } from "../flood.js";
import { CYCLE, HARMLESS } from "../models.js";
import type { Attack, Ground } from "./attack.js";
import { deploy, inProject, populate, requireDeployed, sendBatch } from "./project.js";

const YEAR_MS = 365 * 86_400_000;
const FIRST_YEAR = "0001-01-01T00:00:00Z";
const twoYearsAgo = () => new Date(Date.now() - 2 * YEAR_MS).toISOString();

function live(name: string, since: string, timestamp: () => string): Attack {
  let customers = 0;
  return {
    name,
    what: `lifecycle a→b→a after a minute each, and an event of ${since}`,
    prepare: async (ground) => async (signal) => {
      await deploy(ground, CYCLE, signal);
      customers += 1;
      await sendBatch(ground, [{ customerId: `c${customers}`, event: "seen", timestamp: timestamp() }], signal);
      await untilAborted(signal);
    },
  };
}

type Request = (ground: Ground, signal: AbortSignal) => Promise<unknown>;

/** An attack by a preview or a recompute, after an event that was stored before the model. */
function requested(name: string, what: string, send: Request): Attack {
  return {
    name,
    what: `the same lifecycle over an event of year 1, ${what}`,
    prepare: async (ground) => {
      await requireDeployed(ground, HARMLESS);
      await populate(ground, 1, () => ({ customerId: "c", event: "seen", timestamp: FIRST_YEAR }));
      return async (signal) => {
        await send(ground, signal);
        await untilAborted(signal);
      };
    },
  };
}

const preview = (ground: Ground, snapshot: Snapshot, signal: AbortSignal) =>
  ground.sender.manage({ method: "POST", path: inProject(ground, "previews"), body: { snapshot } }, signal);

const recompute = async (ground: Ground, dryRun: boolean, signal: AbortSignal) => {
  await deploy(ground, CYCLE, signal);
  const body = { all: true, dryRun };
  return ground.sender.manage({ method: "POST", path: inProject(ground, "recomputes"), body }, signal);
};

export const CYCLES: readonly Attack[] = [
  live("cycle-year-1", "year 1", () => FIRST_YEAR),
  live("cycle-two-years", "two years ago", twoYearsAgo),
  requested("cycle-preview", "as a preview", (ground, signal) => preview(ground, CYCLE, signal)),
  requested("cycle-dry-run", "deployed, and a dry run", (ground, signal) => recompute(ground, true, signal)),
  requested("cycle-recompute", "deployed, and a recompute", (ground, signal) => recompute(ground, false, signal)),
];
