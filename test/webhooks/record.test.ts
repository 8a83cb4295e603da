import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import {
  claimDeliveries,
  recordAttempts,
  type AttemptResult,
  type ClaimedDelivery,
} from "../../src/db/calls-deliveries.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import {
  attemptsOf,
  clearWebhooks,
  createEnvironment,
  createWebhook,
  deliveriesOf,
  emit,
  makeDue,
} from "./support/fixtures.js";

let db: TestDatabase;

beforeAll(async () => {
  db = await createDatabase();
});
afterEach(() => clearWebhooks(db.sql));
afterAll(() => db.drop());

function answered(
  claimed: ClaimedDelivery,
  statusCode: number | null,
  more: Partial<AttemptResult> = {},
): AttemptResult {
  const { environmentId, webhookId, emissionSeq, attempt } = claimed;
  return {
    environmentId,
    webhookId,
    emissionSeq,
    attempt,
    attemptedAt: new Date().toISOString(),
    latencyMs: 12,
    statusCode,
    error: statusCode === null ? "connect ECONNREFUSED" : null,
    response: statusCode === null ? null : "answer",
    retryAfterSeconds: null,
    ...more,
  };
}

async function oneClaimed(): Promise<ClaimedDelivery> {
  const { sql } = db;
  const environment = await createEnvironment(sql);
  await createWebhook(sql, environment, "https://example.com/hooks");
  await emit(sql, environment, [{}]);
  return claimAgain();
}

async function claimAgain(): Promise<ClaimedDelivery> {
  await makeDue(db.sql);
  const [claimed, ...more] = await claimDeliveries(db.sql, "worker", 10, 10);
  expect(more).toEqual([]);
  return claimed!;
}

test.each([200, 201, 204, 299])("status %d is a delivery", async (code) => {
  const claimed = await oneClaimed();
  expect(await recordAttempts(db.sql, [answered(claimed, code)])).toBe(1);
  expect(await deliveriesOf(db.sql, claimed.webhookId)).toMatchObject([
    { status: "delivered", attempts: 1, claimed: false },
  ]);
  expect(await attemptsOf(db.sql, claimed.webhookId)).toEqual([
    { attempt: 1, status_code: code, error: null, response: "answer" },
  ]);
});

test.each([null, 199, 301, 307, 400, 404, 429, 500, 503])("status %s is tried again", async (code) => {
  const claimed = await oneClaimed();
  await recordAttempts(db.sql, [answered(claimed, code)]);
  const [delivery] = await deliveriesOf(db.sql, claimed.webhookId);
  expect(delivery).toMatchObject({ status: "pending", attempts: 1, claimed: false });
  expect(delivery!.due_in).toBeLessThan(5.5);
});

test("failing attempts follow the schedule within a tenth, and after the tenth the delivery has failed", async () => {
  const { sql } = db;
  let claimed = await oneClaimed();
  const [minute, hour] = [60, 3600];
  const waits = [5, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour];
  for (const wait of waits) {
    const [row] = await sql`
      with recorded as materialized (
        select svc_api.record_attempts(${JSON.stringify([answered(claimed, 500)])}::text::jsonb), now() as at
      )
      select at from recorded
    `;
    const [due] = await sql`
      select extract(epoch from next_attempt_at - ${row!.at})::float8 as wait
      from svc.deliveries where webhook_id = ${claimed.webhookId}
    `;
    // The test's copy of the instant is cut to milliseconds.
    expect(due!.wait).toBeGreaterThanOrEqual(wait * 0.9 - 0.001);
    expect(due!.wait).toBeLessThanOrEqual(wait * 1.1 + 0.001);
    claimed = await claimAgain();
  }
  expect(claimed.attempt).toBe(10);
  await recordAttempts(sql, [answered(claimed, 500)]);
  expect(await deliveriesOf(sql, claimed.webhookId)).toMatchObject([
    { status: "failed", attempts: 10, claimed: false },
  ]);
  expect(await attemptsOf(sql, claimed.webhookId)).toHaveLength(10);
});

test.each([
  ["later than the schedule's time is honoured", 3600, 3600],
  ["sooner than the schedule's time is not", 0, 5],
  ["beyond a day is cut to a day", 1e14, 86_400],
])("Retry-After %s", async (_, retryAfterSeconds, expected) => {
  const claimed = await oneClaimed();
  await recordAttempts(db.sql, [answered(claimed, 429, { retryAfterSeconds })]);
  const [delivery] = await deliveriesOf(db.sql, claimed.webhookId);
  expect(Math.round(delivery!.due_in / expected)).toBe(1);
});

test("410 fails the delivery and disables the webhook with a reason; what else was pending waits", async () => {
  const { sql } = db;
  const environment = await createEnvironment(sql);
  const { webhookId } = await createWebhook(sql, environment, "https://example.com/hooks");
  const other = await createWebhook(sql, environment, "https://example.com/hooks");
  await emit(sql, environment, [{}, {}]);
  const claimed = await claimDeliveries(sql, "worker", 1, 10);
  const first = claimed.find((delivery) => delivery.webhookId === webhookId)!;
  await recordAttempts(sql, [answered(first, 410)]);
  expect(await deliveriesOf(sql, webhookId)).toMatchObject([{ status: "failed" }, { status: "pending", attempts: 0 }]);
  const rows = await sql`select webhook_id, disabled_at is not null as disabled, disabled_reason from svc.webhooks`;
  expect(rows).toContainEqual({
    webhook_id: webhookId,
    disabled: true,
    disabled_reason: "The endpoint answered 410 Gone.",
  });
  expect(rows).toContainEqual({ webhook_id: other.webhookId, disabled: false, disabled_reason: null });
  expect((await claimDeliveries(sql, "worker", 10, 10)).map((delivery) => delivery.webhookId)).toEqual([
    other.webhookId,
  ]);
});

test("recording an attempt twice, in one call, in a row or at once, changes nothing more", async () => {
  const { sql } = db;
  const claimed = await oneClaimed();
  const result = answered(claimed, 500);
  const counts = await Promise.all([1, 2, 3, 4].map(() => recordAttempts(sql, [result, result])));
  expect(counts.sort()).toEqual([0, 0, 0, 1]);
  const [before] = await sql`select * from svc.deliveries`;
  expect(await recordAttempts(sql, [{ ...result, statusCode: 200 }])).toBe(0);
  expect(await sql`select * from svc.deliveries`).toEqual([before]);
  expect(await attemptsOf(sql, claimed.webhookId)).toMatchObject([{ attempt: 1, status_code: 500 }]);
});

test("attempts of deliveries that are gone are passed over, and others in the same call are written", async () => {
  const { sql } = db;
  const gone = await oneClaimed();
  await clearWebhooks(sql);
  const claimed = await oneClaimed();
  expect(await recordAttempts(sql, [answered(gone, 200), answered(claimed, 200)])).toBe(1);
  expect(await recordAttempts(sql, [])).toBe(0);
});
