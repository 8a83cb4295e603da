/** Requests of attacks in their project. */
import { setTimeout as delay } from "node:timers/promises";
import { evaluationCaughtUp } from "../../faults/caught-up.js";
import { environmentOf } from "../../faults/verification.js";
import { DemoFailure } from "../../src/demo/failure.js";
import type { Snapshot } from "../../src/model/snapshot/types.js";
import type { Answer } from "../sender.js";
import type { Ground } from "./attack.js";

const BATCH = 1_000;

/** The path of a resource in the project. */
export function inProject({ project }: Ground, path: string): string {
  return `/projects/${project}/${path}${path.includes("?") ? "&" : "?"}env=test`;
}

/** Deploys a model; this may be refused. */
export function deploy(ground: Ground, snapshot: Snapshot, signal: AbortSignal): Promise<Answer> {
  return ground.sender.manage(
    { method: "POST", path: inProject(ground, "config-versions"), body: { snapshot, force: true } },
    signal,
  );
}

/** Deploys a model during preparation; throws if it is refused, because that is a bug of the attack. */
export async function requireDeployed(ground: Ground, snapshot: Snapshot): Promise<void> {
  await ground.stage.attacker.api.deploy(ground.project, snapshot);
}

export interface Event {
  customerId: string;
  event: "seen";
  properties?: { value: string };
  timestamp?: string;
}

export function sendBatch({ sender, key }: Ground, events: readonly Event[], signal: AbortSignal): Promise<Answer> {
  return sender.ingest(key, { path: "/v1/events/batch", body: { events } }, signal);
}

/** Sends events of the model HARMLESS and waits until they are evaluated. */
export async function populate(ground: Ground, count: number, eventOf: (index: number) => Event): Promise<void> {
  const { signal, cluster } = ground.stage;
  for (let from = 0; from < count; from += BATCH) {
    const events = Array.from({ length: Math.min(BATCH, count - from) }, (_, index) => eventOf(from + index));
    const { status, text } = await sendBatch(ground, events, signal);
    signal.throwIfAborted();
    if (status === 202) continue;
    if (status !== 429 && status !== 503 && status !== null)
      throw new DemoFailure(`events for the attack were refused: ${text}`);
    await delay(500, undefined, { signal });
    from -= BATCH;
  }
  await evaluationCaughtUp(cluster, signal);
}

/** The internal id of a project's environment `test`; default: the attack's project. */
export function environmentIdOf(ground: Ground, project = ground.project): Promise<number> {
  return ground.stage.cluster.query((sql) => environmentOf(sql, project));
}
