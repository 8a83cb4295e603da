import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { AttemptResult } from "../../src/db/api/webhooks.js";
import { AttemptRecorder } from "../../src/tasks/deliver/recorder.js";
import { capturedLog } from "../support/captured-log.js";
import { createDatabase, type TestDatabase } from "../support/database.js";
import {
  attemptsOf,
  claim,
  clearWebhooks,
  createEnvironment,
  createWebhook,
  deliveriesOf,
  emit,
} from "./support/fixtures.js";

let db: TestDatabase;

beforeAll(async () => {
  db = await createDatabase();
});
afterEach(() => clearWebhooks(db.sql));
afterAll(() => db.drop());

/** What half of a surrogate pair makes of a text: the database refuses it. */
const REFUSED = "a\uD83D";

/** Attempts under way at one webhook, answered 500. */
async function attempts(count: number): Promise<[string, AttemptResult[]]> {
  const { sql } = db;
  const environment = await createEnvironment(sql);
  const { webhookId } = await createWebhook(sql, environment, "https://example.com/hooks");
  await emit(sql, environment, Array<object>(count).fill({}));
  const claimed = await claim(sql, "worker", 100);
  const outcome = { latencyMs: 5, statusCode: 500, error: null, response: "no", retryAfterSeconds: null };
  return [webhookId, claimed.map((one) => ({ ...one, attemptedAt: new Date().toISOString(), ...outcome }))];
}

test("an attempt whose answer the database refuses is recorded without it, so that the schedule goes on", async () => {
  const [webhookId, [refused, ...others]] = await attempts(5);
  const recorder = new AttemptRecorder(db.sql, capturedLog().log);
  const results = [others[0]!, others[1]!, { ...refused!, response: REFUSED }, others[2]!, others[3]!];
  await Promise.all(results.map((result) => recorder.record(result)));
  const deliveries = await deliveriesOf(db.sql, webhookId);
  expect(deliveries.map(({ status, attempts: made }) => [status, made])).toEqual(Array(5).fill(["pending", 1]));
  for (const { due_in } of deliveries) expect(due_in).toBeGreaterThan(0);
  const recorded = { attempt: 1, status_code: 500 };
  expect(await attemptsOf(db.sql, webhookId)).toEqual([
    { ...recorded, error: "the answer could not be recorded", response: null },
    ...Array<unknown>(4).fill({ ...recorded, error: null, response: "no" }),
  ]);
});

test("an attempt that is refused without its answer, too, is given up and logged once", async () => {
  const [webhookId, [refused, other]] = await attempts(2);
  const { log, lines } = capturedLog();
  const recorder = new AttemptRecorder(db.sql, log);
  await Promise.all([recorder.record({ ...refused!, attemptedAt: "never" }), recorder.record(other!)]);
  expect((await deliveriesOf(db.sql, webhookId)).map(({ attempts: made }) => made)).toEqual([0, 1]);
  expect(lines).toMatchObject([{ msg: "the database refuses the record of an attempt to deliver" }]);
});
