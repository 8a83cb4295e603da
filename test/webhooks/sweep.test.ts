import { afterAll, afterEach, expect, test } from "vitest";
import { call } from "../../src/db/api/call.js";
import { createDatabase } from "../support/database.js";
import { clearWebhooks, deliveriesOf, emit, newEndpoint } from "./support/fixtures.js";

const db = await createDatabase();
const { sql } = db;
afterEach(async () => {
  await clearWebhooks(sql);
  await sql`delete from svc.delivery_attempts`;
});
afterAll(() => db.drop());

/** A webhook with so many deliveries, each attempted so many days ago. */
async function delivered(count: number, days: number): Promise<string> {
  const { environment, webhookId } = await newEndpoint(sql);
  await emit(sql, environment, count);
  await sql`update svc.deliveries set status = 'delivered', attempts = 1, finished_at = now() where webhook_id = ${webhookId}`;
  await sql`
    insert into svc.delivery_attempts (environment_id, webhook_id, emission_seq, attempt, attempted_at, latency_ms, status_code)
    select environment_id, webhook_id, emission_seq, 1, now() - ${days} * interval '24 hours', 5, 200
    from svc.deliveries where webhook_id = ${webhookId}`;
  return webhookId;
}

async function attempts(webhookId: string): Promise<number> {
  return (await sql`select from svc.delivery_attempts where webhook_id = ${webhookId}`).length;
}

test("attempts are removed when their days are over, a bounded number at once, and deliveries stay", async () => {
  const old = await delivered(7, 30.001);
  const young = await delivered(2, 29.999);
  expect(await call(sql, "sweep_webhooks", 30, 5)).toBe(5);
  expect(await attempts(old)).toBe(2);
  expect(await call(sql, "sweep_webhooks", 30, 5)).toBe(2);
  expect(await call(sql, "sweep_webhooks", 30, 5)).toBe(0);
  expect([await attempts(old), await attempts(young)]).toEqual([0, 2]);
  expect(await deliveriesOf(sql, old)).toHaveLength(7);
});

test("of a deleted webhook nothing is left in the end, however much there was, and nothing of others is touched", async () => {
  const deleted = await delivered(7, 1);
  const other = await delivered(2, 1);
  await sql`update svc.webhooks set deleted_at = now() - interval '61 minutes' where webhook_id = ${deleted}`;
  const swept: number[] = [];
  for (let rows = -1; rows !== 0; swept.push(rows)) rows = await call(sql, "sweep_webhooks", 30, 5);
  expect(swept).toEqual([10, 5, 0]);
  expect([await attempts(deleted), (await deliveriesOf(sql, deleted)).length]).toEqual([0, 0]);
  expect([await attempts(other), (await deliveriesOf(sql, other)).length]).toEqual([2, 2]);
  expect(await sql`select webhook_id from svc.webhooks`).toEqual([{ webhook_id: other }]);
});

test("a deleted webhook is left alone for an hour, while emissions and attempts under way may still ask for it", async () => {
  const deleted = await delivered(2, 1);
  await sql`update svc.webhooks set deleted_at = now() - interval '59 minutes' where webhook_id = ${deleted}`;
  expect(await call(sql, "sweep_webhooks", 30, 5)).toBe(0);
  expect([await attempts(deleted), (await deliveriesOf(sql, deleted)).length]).toEqual([2, 2]);
  expect(await sql`select webhook_id from svc.webhooks`).toEqual([{ webhook_id: deleted }]);
});
