/** Snapshots that are nearly correct models. */
import { createHash } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import fc, { type Arbitrary } from "fast-check";
import { environmentOf } from "../faults/verification.js";
import { compileDemoModel } from "../src/demo/model.js";
import { EXAMPLE_MODEL } from "../src/demo/service/service.js";
import type { Field, Snapshot } from "../src/model/snapshot/types.js";
import { exactJson } from "./exact.js";
import type { Ground } from "./ground.js";
import { changed } from "./mutations.js";
import { type Attempt, shortened } from "./part.js";
import { hostileValue, soundValue } from "./values.js";

/** Each lane deploys to a separate project, and waits until an event is evaluated there. */
const LANES = 4;
/** Snapshots that are generated together. */
const CHUNK = 200;
const POLL_MS = 20;
const EVALUATED_MS_MAX = 60_000;
const TENANT = "snapshots";
const NUMBERS = "0,-0,-1,1,1.5,2,100,1e2,1e21,1e308,5e-324,1e309,1e-400,9007199254740993,0.1000".split(",");

interface Lane {
  project: string;
  environmentId: number;
  key: string;
}

/** Deploys snapshots, compares each accepted one with what is stored, and evaluates events under it. */
export async function fuzzSnapshots(ground: Ground, { snapshots }: { snapshots: number }): Promise<void> {
  const { running, sql, documented, part } = ground;
  const { api, credentials } = await running.tenant(TENANT);
  const { snapshot: model } = await compileDemoModel(EXAMPLE_MODEL);
  const asOwner = {
    authorization: `Bearer ${credentials.accessToken}`,
    "x-svc-organization": credentials.organizationId,
  };
  const lanes: Lane[] = [];
  for (let number = 1; number <= LANES; number++) {
    const project = `${TENANT}-${number}`;
    const key = await api.createProject(project, project);
    lanes.push({ project, key, environmentId: await environmentOf(sql, project) });
  }
  const deploying = documented.operation("POST", "/projects/{project}/config-versions");
  const sending = documented.operation("POST", "/v1/events/batch");
  let tried = 0;

  const tryIn = async ({ project, environmentId, key }: Lane, text: string): Promise<void> => {
    const path = `/projects/${project}/config-versions?env=test`;
    const deploy: Attempt = { path, headers: asOwner, body: Buffer.from(`{"force":true,"snapshot":${text}}`) };
    const answer = await ground.try(deploying, deploy);
    if (answer.status === null || answer.status >= 300) return;
    const { version } = JSON.parse(answer.text) as { version: string };
    const [stored] = await sql<[{ text: string; hash: string }]>`
      select v.snapshot::text as text, v.hash
      from svc.config_versions as v
      join svc.environments as e on e.project_id = v.project_id
      where e.environment_id = ${environmentId} and v.version = ${Number(version.slice(1))}`;
    part.compared += 1;
    // A snapshot's numbers are doubles, so JavaScript writes them without loss.
    const sent = JSON.stringify(JSON.parse(text));
    const isSame = isDeepStrictEqual(exactJson(stored.text), exactJson(sent));
    if (!isSame || createHash("sha256").update(stored.text).digest("hex") !== stored.hash) {
      part.altered += 1;
      part.found(`altered: stored ${shortened(stored.text)} with the hash ${stored.hash}`, deploy);
    }
    const customerId = `c${(tried += 1)}`;
    const events = operationsUnder(JSON.parse(stored.text) as Snapshot, customerId);
    const headers = { authorization: `Bearer ${key}` };
    const body = Buffer.from(JSON.stringify({ events }));
    const { status } = await ground.try(sending, { path: "/v1/events/batch", headers, body });
    const failure = status === 202 ? await failureOf(ground, environmentId, customerId) : null;
    if (failure !== null) part.found(`an event under it ${failure}`, deploy);
  };

  const free = [...lanes];
  for (let from = 0; from < snapshots; from += CHUNK) {
    const texts = fc.sample(changedModel(model), {
      seed: part.seed + from,
      numRuns: Math.min(CHUNK, snapshots - from),
    });
    await ground.inLanes(LANES, texts, async (text) => {
      const lane = free.pop()!;
      await tryIn(lane, text);
      free.push(lane);
    });
    ground.onProgress(from + texts.length);
  }
}

/** The model with other values in one or two places, mostly of the same kind, so that many snapshots are accepted. */
function changedModel(model: Snapshot): Arbitrary<string> {
  /** All values of members with the same name in the model. */
  const used = new Map<string, Set<string>>();
  JSON.stringify(model, (name, value: unknown) => {
    const values = used.get(name) ?? new Set();
    if (typeof value !== "object") used.set(name, values.add(JSON.stringify(value)));
    return value;
  });
  const alike = (value: unknown, name: string): Arbitrary<string> => {
    if (typeof value === "number")
      return fc.oneof(fc.constantFrom(...NUMBERS), fc.integer({ min: -3, max: 500 }).map(String));
    if (typeof value === "boolean") return fc.constantFrom("true", "false");
    if (typeof value === "string" && /^\d+[mhdw]$/.test(value))
      return fc
        .tuple(fc.integer({ min: 0, max: 400 }), fc.constantFrom("m", "h", "d", "w"))
        .map(([number, unit]) => `"${number}${unit}"`);
    return fc.constantFrom(...(used.get(name) ?? ["null"]));
  };
  const other = (value: unknown, name: string) =>
    fc.oneof(
      { weight: 12, arbitrary: alike(value, name) },
      { weight: 1, arbitrary: soundValue },
      { weight: 1, arbitrary: hostileValue },
    );
  return changed({ ...model, strictSchema: false }, other, 2);
}

/** Operations of a customer with each event once. */
function operationsUnder({ events, traits }: Snapshot, customerId: string): object[] {
  const payload = (fields: Record<string, Field>) =>
    Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, valueOf(field)]));
  return [
    { type: "identify", customerId, traits: payload(traits) },
    ...Object.entries(events).map(([event, { properties }]) => ({
      customerId,
      event,
      properties: payload(properties),
    })),
  ].slice(0, 1_000);
}

function valueOf(field: Field): unknown {
  if (field.type === "array") return [valueOf(field.items)];
  if (field.type === "string") return field.enum?.[0] ?? "x";
  return { number: 1, boolean: true, date: "2026-03-02" }[field.type];
}

/** Waits until a customer's operations are evaluated; returns null, or the reason why they are not. */
async function failureOf({ sql, running }: Ground, environmentId: number, customerId: string): Promise<string | null> {
  const startedAt = performance.now();
  while (performance.now() - startedAt < EVALUATED_MS_MAX) {
    const [{ waiting, error }] = await sql<[{ waiting: boolean; error: string | null }]>`
      select
        exists (select from svc.inbox as i where i.environment_id = ${environmentId} and i.customer_id = ${customerId}) as waiting,
        (
          select c.set_aside_error from svc.customers as c
          where c.environment_id = ${environmentId} and c.customer_id = ${customerId} and c.set_aside_at is not null
        ) as error`;
    if (error !== null) return `could not be evaluated: ${error}`;
    if (!waiting) return null;
    await delay(POLL_MS, undefined, { signal: running.signal });
  }
  return `was not evaluated within ${EVALUATED_MS_MAX / 1_000} s`;
}
