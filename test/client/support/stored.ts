import type { Sql } from "postgres";
import { call } from "../../../src/db/api/call.js";
import { newAccessToken } from "../../../src/http/request/credentials.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/model/snapshot/types.js";

/** By customer, the property `n` of its events in the order in which they were accepted, and the last value of its trait `seen`. */
export async function insertedOf(
  sql: Sql,
): Promise<{ events: Record<string, number[]>; traits: Record<string, number> }> {
  const events = await sql<{ customer: string; numbers: number[] }[]>`
    select customer_id as customer, array_agg((properties ->> 'n')::integer order by event_id) as numbers
    from svc_inspect.events where customer_id like 'customer %' group by customer_id`;
  const traits = await sql<{ customer: string; seen: number }[]>`
    select distinct on (customer_id) customer_id as customer, (traits ->> 'seen')::integer as seen
    from svc.trait_updates where customer_id like 'customer %' order by customer_id, operation_seq desc`;
  return {
    events: Object.fromEntries(events.map(({ customer, numbers }) => [customer, numbers])),
    traits: Object.fromEntries(traits.map(({ customer, seen }) => [customer, seen])),
  };
}

/** An organization with a project and a deployed model; its test key. */
export async function createProject(sql: Sql, url: string, model: Partial<Snapshot>): Promise<string> {
  const token = newAccessToken();
  const document = await call(sql, "bootstrap", "acme", "ada@example.com", token.hash);
  const { organizationId } = JSON.parse(document) as { organizationId: string };
  const post = async (path: string, body: unknown): Promise<unknown> => {
    const response = await fetch(url + path, {
      method: "POST",
      headers: {
        authorization: `Bearer ${token.text}`,
        "x-svc-organization": organizationId,
        "content-type": "application/json",
      },
      body: JSON.stringify(body),
    });
    if (response.status !== 201) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    return response.json();
  };
  const { keys } = (await post("/projects", { name: "App", slug: "app" })) as { keys: { test: string } };
  await post("/projects/app/config-versions?env=test", { snapshot: { ...EMPTY_SNAPSHOT, ...model }, force: true });
  return keys.test;
}
