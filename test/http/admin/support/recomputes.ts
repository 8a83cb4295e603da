import type { Sql } from "postgres";
import type { CustomerSamples } from "../../../../src/backtest/samples.js";

/** A customer's difference in a recompute, as the worker writes it. */
export interface Difference {
  customerId: string;
  weight: number;
  document: Record<string, unknown>;
}

/** A difference in which the lifecycle moves from trial to activated, with other members. */
export function difference(customerId: string, members: Record<string, unknown> = {}, weight = 1): Difference {
  const document = {
    customerId,
    lifecycle: { before: "trial", after: "activated" },
    health: { before: null, after: { overall: 81.5, components: { usage: 81.5 } } },
    segments: { before: [], after: ["paying"] },
    journeys: { before: [], after: [] },
    rules: [],
    emissions: [],
    ...members,
  };
  return { customerId, weight, document };
}

/** Writes differences of a recompute or a preview. */
export async function addDifferences(sql: Sql, id: string, differences: readonly Difference[]): Promise<void> {
  for (const { customerId, weight, document } of differences) {
    await sql`
      insert into svc.recompute_customers (environment_id, recompute_id, customer_id, weight, difference)
      select environment_id, recompute_id, ${customerId}, ${weight}, ${JSON.stringify(document)}::text::json
      from svc.recomputes where recompute_id = ${id}`;
  }
}

/** Writes samples of a backtest like the worker: all customers are active from its first instant on. */
export async function addSamples(sql: Sql, id: string, customers: readonly string[]): Promise<CustomerSamples[]> {
  const samples = customers.map((customerId): CustomerSamples => {
    const health = { overall: 81.5, components: { usage: 81.5 }, band: "good" };
    return { customerId, said: [[[0, { state: "active", segments: ["paying"], signals: [], health }]]], outcomes: [1] };
  });
  await addDifferences(
    sql,
    id,
    samples.map((document) => ({ customerId: document.customerId, weight: 0, document: { ...document } })),
  );
  return samples;
}

/** Ends a recompute as one that failed too often. */
export async function giveUp(sql: Sql, id: string, error = "It failed."): Promise<void> {
  await sql`
    update svc.recomputes
    set status = 'dead_letter', attempt = 10, failures = 10, error = ${error}, customers_total = 3, customers_done = 2,
      last_customer_id = 'globex', started_at = now(), finished_at = now()
    where recompute_id = ${id}`;
}
