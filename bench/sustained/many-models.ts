import { randomBytes } from "node:crypto";
import type { Sql } from "postgres";
import type { Snapshot } from "../../src/model/snapshot/types.js";
import { addProject, sha256 } from "../lib/database.js";
import { requestBytes } from "../lib/load.js";
import type { Installation } from "../soak/service.js";
import { beginnings, nextEvent } from "./customers.js";
import { Load } from "./load.js";

export const MODELS = 1_000;
const CUSTOMERS_EACH = 20;
const EVENTS_EACH = 50;
const CONNECTIONS = 4;
/** How many batches each project sends. */
const TURNS = 3;

/**
 * The peak resident memory of the service's process while projects, each with its own model, take turns with batches: models are compiled
 * again and again, because more of them are active than the cache holds.
 */
export async function residentWithManyModels(
  installation: Installation,
  sql: Sql,
  owner: { token: string; organizationId: string },
  snapshot: Snapshot,
): Promise<number> {
  const by = { tokenHash: sha256(owner.token), organizationId: owner.organizationId, requestId: "bench" };
  await sql`update iam.plans set projects = ${MODELS + 1}, changes = 10 * ${MODELS}::integer`;
  const keys = Array.from({ length: MODELS }, () => `svc_test_${randomBytes(20).toString("hex")}`);
  for (const [index, key] of keys.entries()) {
    const model = { ...snapshot, events: { ...snapshot.events, [`only_${index}`]: { properties: {} } } };
    await addProject(sql, by, `bench-${index}`, sha256(key), model);
  }

  const service = await installation.start();
  let sent = 0;
  const requests = MODELS * (TURNS + 1);
  const load = new Load(service, sql, CONNECTIONS, EVENTS_EACH, () => {
    const index = sent++;
    if (index >= requests) return null;
    const events =
      index < MODELS ? beginnings(0, CUSTOMERS_EACH) : Array.from({ length: EVENTS_EACH }, () => ofFew(nextEvent()));
    return requestBytes("/v1/events/batch", keys[index % MODELS]!, JSON.stringify({ events }));
  });
  await load.done;
  await service.stop();
  return load.residentBytes;
}

/** The same event, for one of the customers that every project has. */
function ofFew<Event extends { customerId: string }>(event: Event): Event {
  const [, number] = event.customerId.split("-");
  return { ...event, customerId: `account-${Number(number) % CUSTOMERS_EACH}` };
}
