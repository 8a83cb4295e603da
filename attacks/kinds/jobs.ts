/** Queued work: recomputes and previews of all customers. */
import { setTimeout as delay } from "node:timers/promises";
import { flood, until } from "../flood.js";
import { HARMLESS } from "../models.js";
import type { Attack, Ground, Strike } from "./attack.js";
import { inProject, populate, requireDeployed } from "./project.js";

const CUSTOMERS = 20_000;
const LANES = 16;
const POLL_MS = 200;

function overCustomers(name: string, what: string, customers: number, strike: (ground: Ground) => Strike): Attack {
  return {
    name,
    what: `${what}, of ${customers} customers`,
    prepare: async (ground) => {
      await requireDeployed(ground, HARMLESS);
      await populate(ground, customers, (index) => ({ customerId: `c${index}`, event: "seen" }));
      return strike(ground);
    },
  };
}

const post = ({ sender }: Ground, path: string, body: unknown, signal: AbortSignal) =>
  sender.manage({ method: "POST", path, body }, signal);

const recompute = (ground: Ground, signal: AbortSignal) =>
  post(ground, inProject(ground, "recomputes"), { all: true }, signal);

const preview = (ground: Ground, signal: AbortSignal) =>
  post(ground, inProject(ground, "previews"), { snapshot: HARMLESS }, signal);

/** Recomputes one after the other. */
const recomputeAgain =
  (ground: Ground): Strike =>
  async (signal) => {
    while (!signal.aborted) {
      const { status, text } = await recompute(ground, signal);
      if (status === 202) await ended(ground, (JSON.parse(text) as { id: string }).id, signal);
      else await delay(POLL_MS);
    }
  };

async function ended(ground: Ground, id: string, signal: AbortSignal): Promise<void> {
  const isEnded = async () => {
    const { status, text } = await ground.sender.manage({ path: inProject(ground, `recomputes/${id}`) }, signal);
    return status === 200 && ["completed", "dead_letter"].includes((JSON.parse(text) as { status: string }).status);
  };
  await until(isEnded, POLL_MS, signal);
}

export const JOBS: readonly Attack[] = [
  overCustomers("recompute", "a recompute of all, again and again", CUSTOMERS, recomputeAgain),
  overCustomers(
    "recomputes",
    "1,000 recomputes of all, queued",
    CUSTOMERS,
    (ground) => (signal) => flood({ lanes: LANES, count: 1_000, signal }, () => recompute(ground, signal)),
  ),
  overCustomers(
    "previews",
    "600 previews, queued",
    CUSTOMERS,
    (ground) => (signal) => flood({ lanes: LANES, count: 600, signal }, () => preview(ground, signal)),
  ),
];
