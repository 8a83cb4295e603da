import { request as httpRequest } from "node:http";
import { createHash } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import type { Reply } from "../support/service.js";
import { resetAllowance, setAllowance } from "./support/allowance.js";
import { expectAccepted, expectRefused, expectTaken, limitHeaders, type Refusal } from "./support/answers.js";
import { eventIdOf, useSpec, type SpecFixture } from "./support/fixture.js";
import { withoutDatabase } from "./support/outage.js";
import {
  badTimestamp,
  conflict,
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

/** The two endpoints, with a body that is right for each. */
const ENDPOINTS: [path: string, send: (fixture: SpecFixture, headers?: Record<string, string>) => Promise<Reply>][] = [
  ["POST /v1/events", (to, headers) => to.single(event, headers)],
  ["POST /v1/events/batch", (to, headers) => to.batch([event], headers)],
];

describe("| 400 | `VALIDATION_ERROR` | invalid request shape, field, or timestamp (including a timestamp without timezone and a `type` other than `track`) |: what is not told by field in the section on operations", () => {
  it.each<[string, unknown, Refusal]>([
    [
      "request shape",
      [event],
      { code: "VALIDATION_ERROR", message: "The body must be a JSON object.", value: [event], fix: "Send an object." },
    ],
    ["unknown field", { ...event, colour: "red" }, notOfTrack("colour")],
    [
      "timestamp that does not exist",
      { ...event, timestamp: "2026-02-30T10:00:00Z" },
      badTimestamp("timestamp", "2026-02-30T10:00:00Z", "The date does not exist."),
    ],
  ])("%s", async (_name, body, refusal) => {
    await fixture.refuses(() => fixture.single(body), 400, refusal);
  });

  it("of a batch, the place of the operation is told", async () => {
    const batch = () => fixture.batch([event, { ...event, colour: "red" }]);
    await fixture.refuses(batch, 400, notOfTrack("events[1].colour"));
  });
});

describe("| 400 | `MALFORMED_JSON` | body is not valid JSON |", () => {
  it.each([
    ["nothing", "", "The body is empty."],
    ["half a document", '{"customerId":"c"', 'Expected "," or "}", but the body ends at line 1, column 18.'],
    [
      "a document of three lines",
      '{\n"customerId": "c",\n  "event": e }',
      'Expected a value, but found "e" at line 3, column 12.',
    ],
    ["bytes that are no UTF-8", new Uint8Array([0x22, 0xff, 0x22]), "The body is not valid UTF-8."],
  ])("%s", async (_name, body, reason) => {
    for (const path of ["/v1/events", "/v1/events/batch"]) {
      await fixture.refuses(() => fixture.post(path, body), 400, malformed(reason));
    }
  });
});

describe.each(ENDPOINTS)("%s", (_endpoint, send) => {
  describe("| 402 | `PLAN_REQUIRED` | the organization cannot use cloud execution |", () => {
    afterEach(() => sql()`update iam.plans set cloud_execution = true`);

    it("for as long as its plan has none", async () => {
      await sql()`update iam.plans set cloud_execution = false`;
      await fixture.refuses(() => send(fixture), 402, PLAN_REQUIRED);
      await sql()`update iam.plans set cloud_execution = true`;
      expect((await send(fixture)).status).toBe(202);
    });
  });

  describe("| 429 | `RATE_LIMIT_EXCEEDED` | per-key rate limit exceeded |", () => {
    afterEach(() => resetAllowance(fixture));

    it("with the headers that say when to come again", async () => {
      await setAllowance(fixture, { perSecond: 1, left: 0 });
      const reply = await fixture.refuses(() => send(fixture), 429, rateLimited(1, 1, 0));
      expect(limitHeaders(reply)).toEqual({
        "RateLimit-Limit": "1000",
        "RateLimit-Remaining": "0",
        "RateLimit-Reset": "1",
        "Retry-After": "1",
      });
    });
  });

  describe("| 429 | `MONTHLY_QUOTA_EXCEEDED` | monthly quota exceeded |", () => {
    afterEach(async () => {
      await sql()`update iam.plans set monthly_events = null`;
      await sql()`update svc.key_usage set month_events = 0`;
    });

    it("the last event of the quota is accepted, the next is refused until the next month", async () => {
      await sql()`update iam.plans set monthly_events = 1000`;
      await sql()`
        update svc.key_usage set month = date_trunc('month', now() at time zone 'UTC'), month_events = 999
        where key_hash = ${createHash("sha256").update(fixture.keys.test).digest()}`;
      const [month] = await sql()`
        select to_char(now() at time zone 'UTC', 'YYYY-MM') as this,
          to_char(now() at time zone 'UTC' + interval '1 month', 'YYYY-MM') as next`;
      expect((await send(fixture)).status).toBe(202);

      const next = `${String(month!["next"])}-01T00:00:00Z`;
      const secondsLeft = () => Math.ceil((Date.parse(next) - Date.now()) / 1000);
      const most = secondsLeft();
      const reply = await fixture.refuses(
        () => send(fixture),
        429,
        quotaExceeded({ limit: 1000, used: 1000, month: String(month!["this"]), requested: 1, next }),
      );
      const { "Retry-After": retryAfter, "RateLimit-Reset": reset, ...limit } = limitHeaders(reply);
      expect(limit).toEqual({ "RateLimit-Limit": "100000", "RateLimit-Remaining": expect.stringMatching(/^\d+$/) });
      expect(reset).toBe(retryAfter);
      expect(Number(retryAfter)).toBeGreaterThanOrEqual(secondsLeft() - 1);
      expect(Number(retryAfter)).toBeLessThanOrEqual(most + 1);

      // The other environment has the same organization, and so the same quota.
      expect((await send(fixture, { Authorization: `Bearer ${fixture.keys.live}` })).status).toBe(429);
    });
  });

  describe("| 5xx | server error | temporary failure |", () => {
    it("500 says nothing of its cause, and the same request is accepted once that is mended", async () => {
      await sql()`alter table svc.events rename to events_away`;
      try {
        expectRefused(await send(fixture), 500, SERVER_ERROR);
      } finally {
        await sql()`alter table svc.events_away rename to events`;
      }
      expect((await send(fixture)).status).toBe(202);
    });

    it("503 while the database is away, with the seconds to wait", async () => {
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
  const OTHERS = [
    ["customer", { ...first, customerId: "other" }],
    ["event", { ...first, event: "other" }],
    ["properties", { ...first, properties: { a: 2 } }],
    ["explicit timestamp", { ...first, timestamp: "2026-03-02T10:00:00.001Z" }],
    ["explicit timestamp, left out", { ...event, properties: { a: 1 } }],
  ] as const;
  let keys = 0;
  const nextKey = () => `key ${++keys}`;

  it.each(OTHERS)("POST /v1/events: a different %s", async (_name, other) => {
    const idempotencyKey = nextKey();
    expectTaken(await fixture.single({ ...first, idempotencyKey }));
    const request = () => fixture.single({ ...other, idempotencyKey });
    await fixture.refuses(request, 409, conflict("idempotencyKey", idempotencyKey));
  });

  it.each(OTHERS)("POST /v1/events/batch: a different %s in an earlier request", async (_name, other) => {
    const idempotencyKey = nextKey();
    expectTaken(await fixture.single({ ...first, idempotencyKey }));
    const request = () => fixture.batch([event, { ...other, idempotencyKey }]);
    await fixture.refuses(request, 409, conflict("events[1].idempotencyKey", idempotencyKey));
  });

  it.each(OTHERS)("POST /v1/events/batch: a different %s inside one batch", async (_name, other) => {
    const idempotencyKey = nextKey();
    const request = () => fixture.batch([{ ...first, idempotencyKey }, event, { ...other, idempotencyKey }]);
    await fixture.refuses(request, 409, conflict("events[2].idempotencyKey", idempotencyKey));
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
    expectAccepted(reply, { eventId: eventIdOf(reply), accepted: true, queued: true, duplicate });
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
    expect(replies.map((reply) => [reply.status, reply.headers.get("Retry-After")])).toEqual([
      [status, null],
      [status, null],
    ]);
    expect(replies[0]!.body).toEqual(replies[1]!.body);
  });
});
