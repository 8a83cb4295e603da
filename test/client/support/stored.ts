import type { Sql } from "postgres";
import { useIngest } from "../../http/ingest/fixture.js";

/** A service with a strict model that declares what `insertedOf` reads. */
export async function useCounted() {
  const fixture = await useIngest();
  await fixture.deploy({
    strictSchema: true,
    events: { counted: { properties: { n: { type: "number" } } } },
    traits: { seen: { type: "number" } },
  });
  return fixture;
}

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
