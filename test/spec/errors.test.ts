import { request as httpRequest } from "node:http";
import { createHash } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { taken } from "../http/ingest/fixture.js";
import type { Reply } from "../support/service.js";
import { resetAllowance, setAllowance } from "./support/allowance.js";
import { expectAccepted, expectRefused, expectTaken, limitHeaders } from "./support/answers.js";
import { useSpec, type SpecFixture } from "./support/fixture.js";
import { withoutDatabase } from "./support/outage.js";
import {
  badTimestamp,
  conflict,
  invalid,
  malformed,
  notOfTrack,
  PLAN_REQUIRED,
  quotaExceeded,
  rateLimited,
  SERVER_ERROR,
  unavailable,
} from "./support/refusals.js";

// Section "Errors".

const fixture = useSpec();

const event = { customerId: "c", event: "e" };
const sql = () => fixture.service.db.sql;

/** The two endpoints, with a valid body for each. */
const ENDPOINTS: [path: string, send: (fixture: SpecFixture, headers?: Record<string, string>) => Promise<Reply>][] = [
  ["POST /v1/events", (to, headers) => to.single(event, headers)],
  ["POST /v1/events/batch", (to, headers) => to.batch([event], headers)],
];

it("| 400 | `VALIDATION_ERROR` | invalid request shape, field, or timestamp (including a timestamp without timezone and a `type` other than `track`) |: what is not told by field in the section on operations", async () => {
  const fix = "Send an object.";
  const noObject = invalid({ message: "The body must be a JSON object.", value: [event], fix });
  await fixture.refuses(() => fixture.single([event]), 400, noObject);
  const unknown = { ...event, colour: "red" };
  await fixture.refusesOperation(unknown, 400, (prefix) => notOfTrack(`${prefix}colour`));
  const timestamp = "2026-02-30T10:00:00Z";
  const noDate = badTimestamp("timestamp", timestamp, "The date does not exist.");
  await fixture.refuses(() => fixture.single({ ...event, timestamp }), 400, noDate);
});

describe("| 400 | `MALFORMED_JSON` | body is not valid JSON |", () => {
  it.each([
    ["nothing", "", "The body is empty."],
    ["half a document", '{"customerId":"c"', 'Expected "," or "}", but the body ends at line 1, column 18.'],
    ["three lines", '{\n"customerId": "c",\n  "event": e }', 'Expected a value, but found "e" at line 3, column 12.'],
    ["bytes that are no UTF-8", new Uint8Array([0x22, 0xff, 0x22]), "The body is not valid UTF-8."],
  ])("%s", async (_name, body, reason) => {
    for (const path of ["/v1/events", "/v1/events/batch"]) {
      await fixture.refuses(() => fixture.post(path, body), 400, malformed(reason));
    }
  });
});

describe.each(ENDPOINTS)("%s", (_endpoint, send) => {
  afterEach(async () => {
    await sql()`update iam.plans set cloud_execution = true, monthly_events = null`;
    await sql()`update svc.key_usage set month_events = 0`;
    await resetAllowance(fixture);
  });

  it("| 402 | `PLAN_REQUIRED` | the organization cannot use cloud execution |, for as long as its plan has none", async () => {
    await sql()`update iam.plans set cloud_execution = false`;
    await fixture.refuses(() => send(fixture), 402, PLAN_REQUIRED);
    await sql()`update iam.plans set cloud_execution = true`;
    expect((await send(fixture)).status).toBe(202);
  });

  it("| 429 | `RATE_LIMIT_EXCEEDED` | per-key rate limit exceeded |, with the headers that say when to come again", async () => {
    await setAllowance(fixture, { perSecond: 1, left: 0 });
    const reply = await fixture.refuses(() => send(fixture), 429, rateLimited(1, 1, 0));
    const when = { "RateLimit-Reset": "1", "Retry-After": "1" };
    expect(limitHeaders(reply)).toEqual({ "RateLimit-Limit": "1000", "RateLimit-Remaining": "0", ...when });
  });

  it("| 429 | `MONTHLY_QUOTA_EXCEEDED` | monthly quota exceeded |: the last event is accepted, the next is refused until the next month", async () => {
    await sql()`update iam.plans set monthly_events = 1000`;
    await sql()`
      update svc.key_usage set month = date_trunc('month', now() at time zone 'UTC'), month_events = 999
      where key_hash = ${createHash("sha256").update(fixture.keys.test).digest()}`;
    const [{ month, next }] = await sql()<[{ month: string; next: string }]>`
      select to_char(now() at time zone 'UTC', 'YYYY-MM') as month,
        to_char(now() at time zone 'UTC' + interval '1 month', 'YYYY-MM-01"T"00:00:00"Z"') as next`;
    expect((await send(fixture)).status).toBe(202);

    const secondsLeft = () => Math.ceil((Date.parse(next) - Date.now()) / 1000);
    const most = secondsLeft();
    const refusal = quotaExceeded({ limit: 1000, used: 1000, month, requested: 1, next });
    const reply = await fixture.refuses(() => send(fixture), 429, refusal);
    const { "Retry-After": retryAfter, "RateLimit-Reset": reset, ...limit } = limitHeaders(reply);
    expect(limit).toEqual({ "RateLimit-Limit": "100000", "RateLimit-Remaining": expect.stringMatching(/^\d+$/) });
    expect(reset).toBe(retryAfter);
    expect(Number(retryAfter)).toBeGreaterThanOrEqual(secondsLeft() - 1);
    expect(Number(retryAfter)).toBeLessThanOrEqual(most + 1);

    // The other environment has the same organization, and so the same quota.
    expect((await send(fixture, { Authorization: `Bearer ${fixture.keys.live}` })).status).toBe(429);
  });

  describe("| 5xx | server error | temporary failure |", () => {
    it("500 does not reveal its cause, and the same request is accepted once that is fixed", async () => {
      await sql()`alter table svc.events rename to events_away`;
      try {
        expectRefused(await send(fixture), 500, SERVER_ERROR);
      } finally {
        await sql()`alter table svc.events_away rename to events`;
      }
      expect((await send(fixture)).status).toBe(202);
    });

    it("503 while the database is unavailable, with the seconds to wait", async () => {
      const reply = await withoutDatabase(fixture.service.db, () => send(fixture));
      const { reason } = (reply.body as { error: { reason?: string } }).error;
      expectRefused(reply, 503, unavailable(reason));
      expect(reply.headers.get("Retry-After")).toMatch(/^[1-9]\d*$/);
      expect((await send(fixture)).status).toBe(202);
    });
  });
});

describe("| 409 | `IDEMPOTENCY_CONFLICT` | key reused with a different customer, event, properties, or explicit timestamp, including inside one batch |", () => {
  const first = { ...event, properties: { a: 1 }, timestamp: "2026-03-02T10:00:00Z" };

  it.each([
    ["customer", { ...first, customerId: "other" }],
    ["event", { ...first, event: "other" }],
    ["properties", { ...first, properties: { a: 2 } }],
    ["explicit timestamp", { ...first, timestamp: "2026-03-02T10:00:00.001Z" }],
    ["explicit timestamp, left out", { ...event, properties: { a: 1 } }],
  ])("a different %s: alone, in a batch, and inside one batch", async (idempotencyKey, payload) => {
    const [one, other] = [first, payload].map((operation) => ({ ...operation, idempotencyKey }));
    const inside = () => fixture.batch([one, event, other]);
    await fixture.refuses(inside, 409, conflict("events[2].idempotencyKey", idempotencyKey));
    expectTaken(await fixture.single(one));
    await fixture.refusesOperation(other, 409, (prefix) => conflict(`${prefix}idempotencyKey`, idempotencyKey));
  });
});

describe("Client retry rules: retry network errors, 429 and 5xx with backoff.", () => {
  it("429: after `Retry-After` seconds the same request is accepted", async () => {
    await setAllowance(fixture, { perSecond: 1, left: 4 });
    const request = () => fixture.batch(Array(10).fill(event));
    const reply = await fixture.refuses(request, 429, rateLimited(1, 10, 4));
    const seconds = Number(reply.headers.get("Retry-After"));
    expect(seconds).toBe(6);
    await sql()`update svc.key_usage set tokens = tokens + ${seconds}`;
    expect((await request()).status).toBe(202);
    await resetAllowance(fixture);
  });

  it("network errors: a request whose answer was lost is sent again with its key, and stored once", async () => {
    const body = JSON.stringify({ ...event, idempotencyKey: "lost answer" });
    const before = await fixture.stored();
    await new Promise<void>((resolve) => {
      const outgoing = httpRequest(`${fixture.service.url}/v1/events`, {
        method: "POST",
        headers: { Authorization: `Bearer ${fixture.keys.test}`, "Content-Type": "application/json" },
      });
      outgoing.on("error", () => resolve()).on("close", () => resolve());
      outgoing.end(body, () => outgoing.destroy());
    });
    const reply = await fixture.single(body);
    const { duplicate } = reply.body as { duplicate: boolean };
    expectAccepted(reply, taken(duplicate));
    expect((await fixture.stored()).events - before.events).toBe(1);
  });
});

describe("Do not retry validation, authentication, or idempotency errors without correcting the request: none of them says when to retry, and each is the same again.", () => {
  it.each<[string, number, () => Promise<Reply>]>([
    ["validation", 400, () => fixture.single({ event: "e" })],
    ["malformed JSON", 400, () => fixture.single("{")],
    ["batch size", 400, () => fixture.batch([])],
    ["authentication", 401, () => fixture.single(event, { Authorization: "" })],
    ["idempotency", 409, () => fixture.single({ ...event, event: "other", idempotencyKey: "settled" })],
  ])("%s", async (_name, status, send) => {
    await fixture.single({ ...event, idempotencyKey: "settled" });
    const replies = [await send(), await send()];
    for (const reply of replies) expect([reply.status, reply.headers.get("Retry-After")]).toEqual([status, null]);
    expect(replies[0]!.body).toEqual(replies[1]!.body);
  });
});
