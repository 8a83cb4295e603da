import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { envelope, type Reply } from "../../support/service.js";
import { startIngest, type IngestFixture } from "./fixture.js";

let fixture: IngestFixture;
beforeAll(async () => {
  fixture = await startIngest();
  // Slow enough that time adds little while a test runs.
  await fixture.service.db.sql`update iam.plans set rate_per_second = 1, rate_burst = 1000`;
});
afterAll(() => fixture.service.stop());

/** Sets what is left, as of an hour ahead: time adds nothing. */
const fill = (tokens: number) =>
  fixture.service.db.sql`update svc.key_usage set tokens = ${tokens}, refilled_at = now() + interval '1 hour'`;
const left = async (): Promise<number> => {
  const [row] = await fixture.service.db.sql<[{ tokens: number }]>`
    select b.tokens from svc.key_usage as b join svc.api_keys as k on k.key_hash = b.key_hash
    where k.hint = ${fixture.keys.test.slice(0, 13)}`;
  return row.tokens;
};
const events = (count: number) => Array.from({ length: count }, (_, n) => ({ customerId: "c", event: `e${n}` }));
const headers = ({ headers }: Reply) =>
  Object.fromEntries(
    ["RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Retry-After"].map((name) => [
      name,
      headers.get(name),
    ]),
  );
const limited = (operations: number, remaining: number): unknown =>
  envelope("RATE_LIMIT_EXCEEDED", "The rate limit of this API key allows 1 operations per second.", {
    reason: `The request has ${operations} operation(s); ${remaining} can be accepted now.`,
    fix: "Send the same request again after the number of seconds in Retry-After.",
  });

beforeEach(() => fill(1000));

it("counts each operation of a batch as one event, identify operations and repetitions too", async () => {
  const identify = { type: "identify", customerId: "c", traits: {} };
  const keyed = { customerId: "c", event: "e", idempotencyKey: "k" };
  const reply = await fixture.batch([identify, keyed, keyed]);
  expect(reply.status).toBe(202);
  expect(headers(reply)).toEqual({
    "RateLimit-Limit": "1000",
    "RateLimit-Remaining": "997",
    "RateLimit-Reset": null,
    "Retry-After": null,
  });
  expect(headers(await fixture.single(keyed))).toMatchObject({ "RateLimit-Remaining": "996" });
  expect(await left()).toBe(996);
});

it("lets a whole batch of 1,000 pass, and refuses the next operation until there is room", async () => {
  expect(headers(await fixture.batch(events(1000)))).toMatchObject({ "RateLimit-Remaining": "0" });
  const stored = await fixture.stored();
  const reply = await fixture.single(events(1)[0]);
  expect({ status: reply.status, body: reply.body }).toEqual({ status: 429, body: limited(1, 0) });
  expect(headers(reply)).toEqual({
    "RateLimit-Limit": "1000",
    "RateLimit-Remaining": "0",
    "RateLimit-Reset": "1",
    "Retry-After": "1",
  });
  expect(await fixture.stored()).toEqual(stored);
  await fill(1);
  expect((await fixture.single(events(1)[0])).status).toBe(202);
});

it("refuses a batch whole that has no room, which takes nothing", async () => {
  await fill(10);
  const stored = await fixture.stored();
  const reply = await fixture.batch(events(300));
  expect({ status: reply.status, body: reply.body }).toEqual({ status: 429, body: limited(300, 10) });
  expect(headers(reply)).toEqual({
    "RateLimit-Limit": "1000",
    "RateLimit-Remaining": "10",
    "RateLimit-Reset": "290",
    "Retry-After": "290",
  });
  expect(await fixture.stored()).toEqual(stored);
  expect(await left()).toBe(10);
  expect((await fixture.batch(events(10))).status).toBe(202);
});

it("takes nothing for what is refused for another reason", async () => {
  await fixture.single({ customerId: "c", event: "e", idempotencyKey: "conflict" });
  await fill(10);
  const conflict = { customerId: "c", event: "other", idempotencyKey: "conflict" };
  expect((await fixture.batch([...events(5), conflict])).status).toBe(409);
  expect((await fixture.single(conflict)).status).toBe(409);
  expect((await fixture.single({})).status).toBe(400);
  expect(await left()).toBe(10);
});

it("single events that arrive together are refused one by one, and the refused take nothing", async () => {
  await fill(25);
  const stored = await fixture.stored();
  const replies = await Promise.all(events(80).map((event) => fixture.single(event)));
  const accepted = replies.filter((reply) => reply.status === 202).length;
  // Two calls may be under way at once, and each sees what is left before the other takes it.
  expect(accepted).toBeGreaterThanOrEqual(25);
  expect((await fixture.stored()).events - stored.events).toBe(accepted);
  expect(await left()).toBe(25 - accepted);
  for (const reply of replies.filter(({ status }) => status !== 202)) {
    expect({ status: reply.status, body: reply.body }).toEqual({ status: 429, body: limited(1, 0) });
    expect(headers(reply)).toMatchObject({
      "RateLimit-Remaining": "0",
      "Retry-After": expect.stringMatching(/^\d+$/) as unknown,
    });
  }
});

it("each key has its own", async () => {
  await fill(0);
  await fixture.service.db.sql`update svc.key_usage set tokens = 5 where key_hash <> (
    select key_hash from svc.api_keys where hint = ${fixture.keys.test.slice(0, 13)})`;
  expect((await fixture.single(events(1)[0])).status).toBe(429);
  const live = { Authorization: `Bearer ${fixture.keys.live}` };
  expect(headers(await fixture.single(events(1)[0], live))).toMatchObject({ "RateLimit-Remaining": "4" });
});

it("fills with time, up to its capacity", async () => {
  const { sql } = fixture.service.db;
  await sql`update svc.key_usage set tokens = -5, refilled_at = now() - interval '15.5 seconds'`;
  expect(headers(await fixture.single(events(1)[0]))["RateLimit-Remaining"]).toMatch(/^(9|1\d)$/);
  await sql`update svc.key_usage set tokens = 0, refilled_at = now() - interval '1 day'`;
  expect(headers(await fixture.single(events(1)[0]))).toMatchObject({ "RateLimit-Remaining": "999" });
});
