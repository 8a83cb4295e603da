/** One organization's environments together: each of many projects always has work for about one turn, and none has a backlog. */
import { EXPENSIVE } from "../models.js";
import { until } from "../flood.js";
import type { Attack, Ground } from "./attack.js";
import { inProject, requireDeployed, sendBatch } from "./project.js";

const PROJECTS = 60;
/** Customers with an event in each batch. */
const CUSTOMERS = 20;
const POLL_MS = 500;

export const MANY_PROJECTS: Attack = {
  name: "many-projects",
  what: `${PROJECTS} projects with 400 windowed conditions each, and ${CUSTOMERS} customers' events as soon as the last are evaluated`,
  prepare: async (ground) => {
    const grounds: Ground[] = [];
    for (let index = 0; index < PROJECTS; index++) {
      const project = `${ground.project}-${index}`;
      const key = await ground.stage.attacker.api.createProject(project, project);
      grounds.push({ ...ground, project, key });
      await requireDeployed(grounds[index]!, EXPENSIVE);
    }
    return async (signal) => {
      await Promise.all(grounds.map((one) => sendAfterEvaluation(one, signal)));
    };
  },
};

async function sendAfterEvaluation(ground: Ground, signal: AbortSignal): Promise<void> {
  for (let batch = 0; !signal.aborted; batch++) {
    const timestamp = new Date().toISOString();
    const events = Array.from({ length: CUSTOMERS * 5 }, (_, index) => ({
      customerId: `c${index % CUSTOMERS}`,
      event: "seen" as const,
      properties: { value: `${batch}-${index}` },
      timestamp,
    }));
    await sendBatch(ground, events, signal);
    await until(async () => (await lastEventAt(ground, signal)) === Date.parse(timestamp), POLL_MS, signal);
  }
}

async function lastEventAt(ground: Ground, signal: AbortSignal): Promise<number | null> {
  const { status, text } = await ground.sender.manage(
    { path: inProject(ground, `customers/c${CUSTOMERS - 1}`) },
    signal,
  );
  return status === 200 ? Date.parse((JSON.parse(text) as { lastEventAt: string }).lastEventAt) : null;
}
