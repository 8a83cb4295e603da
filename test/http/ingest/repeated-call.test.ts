import { randomUUID } from "node:crypto";
import type { Sql } from "postgres";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { ingestBatch, ingestSingles, type SingleOutcome } from "../../../src/db/api/ingestion.js";
import { connect } from "../../../src/db/connect.js";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { waitingForLock } from "../../support/locks.js";
import { useIngest } from "./fixture.js";

// The service relies on this after a lost connection: a call with the batch_id of an earlier one repeats that call.

const fixture = await useIngest();
const keyHash = hashCredential(fixture.keys.test);
const sql = connect(fixture.service.db.url, { max: 4, applicationName: "svc test", role: "svc_http" });
afterAll(() => sql.end());

let key = "";
beforeEach(() => {
  key = randomUUID();
});

const event = (n: number, more: object = {}) => ({ customerId: `c${n % 3}`, event: `e${n}`, ...more });
const identify = (n: number) => ({ type: "identify", customerId: `c${n}`, traits: { n } });
const batchBody = (events: unknown[]) => JSON.stringify({ events });
const outcomes = (answers: SingleOutcome[]) => answers.map(({ outcome }) => outcome);
/** Does the work while the rate limit has this many tokens left. */
async function whileLimited(tokens: number, work: () => Promise<void>): Promise<void> {
  const { sql: admin } = fixture.service.db;
  await admin`update svc.key_usage set tokens = ${tokens}, refilled_at = now() + interval '1 hour'`;
  await work();
  await admin`update svc.key_usage set tokens = 100000, refilled_at = now()`;
}

describe("a batch that is repeated", () => {
  it.each([
    ["without keys", () => [event(0), identify(1), event(1), event(0)]],
    ["with keys", () => [event(0, { idempotencyKey: `${key}0` }), event(1, { idempotencyKey: `${key}1` })]],
    [
      "with keys, repetitions and without",
      () => [event(0, { idempotencyKey: key }), identify(2), event(0, { idempotencyKey: key }), event(3)],
    ],
    ["of identify operations", () => [identify(0), identify(1)]],
  ])("returns its first outcome and stores nothing twice: %s", async (_, makeEvents) => {
    const body = batchBody(makeEvents());
    const call = { keyHash, batchId: randomUUID() };
    const first = await ingestBatch(sql, { ...call, repeated: false }, body);
    const stored = await fixture.stored();
    for (let n = 0; n < 2; n++) {
      const again = await ingestBatch(sql, { ...call, repeated: true }, body);
      expect([again.eventIds, again.accepted]).toEqual([first.eventIds, first.accepted]);
    }
    expect(await fixture.stored()).toEqual(stored);
  });

  it("is also answered if the rate limit has been reached meanwhile", async () => {
    const body = batchBody([event(0), event(1)]);
    const call = { keyHash, batchId: randomUUID() };
    const first = await ingestBatch(sql, { ...call, repeated: false }, body);
    await whileLimited(-1e6, async () => {
      const again = await ingestBatch(sql, { ...call, repeated: true }, body);
      expect(again).toMatchObject({ eventIds: first.eventIds, remaining: 0 });
    });
  });
});

describe("single events that are repeated", () => {
  /** Sends events in a call, repeats it, and expects the same answer and nothing stored; returns the first outcomes. */
  async function repeat(events: object[]): Promise<SingleOutcome["outcome"][]> {
    const batchId = randomUUID();
    const bodies = events.map((each) => JSON.stringify(each));
    const call = (repeated: boolean) => ingestSingles(sql, { keyHash, batchId, repeated }, bodies);
    const first = await call(false);
    const stored = await fixture.stored();
    expect(outcomes(await call(true))).toEqual(outcomes(first));
    expect(await fixture.stored()).toEqual(stored);
    return outcomes(first);
  }
  const taken = (duplicate: boolean) => ({ eventId: expect.any(String) as string, duplicate });

  it.each([
    ["without keys", () => [event(0), event(1), event(0)]],
    ["with keys", () => [event(0, { idempotencyKey: `${key}0` }), event(1, { idempotencyKey: `${key}1` })]],
    ["a key twice", () => [event(0, { idempotencyKey: key }), event(0, { idempotencyKey: key }), event(1)]],
    ["a conflict among them", () => [event(0, { idempotencyKey: key }), event(1, { idempotencyKey: key }), event(2)]],
  ])("return their first outcomes and are stored once: %s", async (_, makeEvents) => {
    await repeat(makeEvents());
  });

  it("with a repetition and a conflict with other calls, they return the same, too", async () => {
    await repeat([event(0, { idempotencyKey: key })]);
    const events = [event(0, { idempotencyKey: key }), event(1, { idempotencyKey: key }), event(2)];
    expect(await repeat(events)).toMatchObject([taken(true), { code: "IDEMPOTENCY_CONFLICT" }, taken(false)]);
  });

  it("those that violated the schema are refused again", async () => {
    await fixture.deploy({ strictSchema: true, events: { e1: { properties: {} } } });
    const events = [event(1), event(2), event(1, { properties: { x: 1 } }), event(1, { idempotencyKey: key })];
    const refused = [{ code: "UNKNOWN_EVENT" }, { code: "UNKNOWN_PROPERTY" }];
    expect(await repeat(events)).toMatchObject([taken(false), ...refused, taken(false)]);
    await fixture.deploy({ strictSchema: false });
  });

  it("those over the rate limit are asked to retry", async () => {
    const [first, limited] = [taken(false), { code: "RATE_LIMIT_EXCEEDED" }];
    await whileLimited(2, async () => {
      expect(await repeat([0, 1, 2, 3].map((n) => event(n)))).toMatchObject([first, first, limited, limited]);
    });
  });
});

describe("a call that is repeated while its first try is still running", () => {
  /** Holds the first call open after its work, starts the second, and lets the first commit or roll back. */
  async function overlap<T>(
    attempt: (connection: Sql, repeated: boolean) => Promise<T>,
    commit: boolean,
  ): Promise<[T, T]> {
    const held = await sql.reserve();
    await held`begin`;
    const first = await attempt(held, false);
    const second = attempt(sql, true);
    await expect.poll(() => waitingForLock(fixture.service.db.sql)).toBe(1);
    await held.unsafe(commit ? "commit" : "rollback");
    held.release();
    return [first, await second];
  }

  it.each([
    ["without keys", () => [event(0), event(1)]],
    ["with keys", () => [event(0, { idempotencyKey: `${key}a` }), event(1, { idempotencyKey: `${key}b` })]],
  ])("waits for it and returns its outcome: %s", async (_, makeEvents) => {
    const bodies = makeEvents().map((each) => JSON.stringify(each));
    const batchId = randomUUID();
    const before = await fixture.stored();
    const [first, second] = await overlap(
      (connection, repeated) => ingestSingles(connection, { keyHash, batchId, repeated }, bodies),
      true,
    );
    expect(outcomes(second)).toEqual(outcomes(first));
    const after = await fixture.stored();
    expect([after.events - before.events, after.batches - before.batches]).toEqual([2, 1]);
  });

  it("takes its place if it is rolled back", async () => {
    const body = batchBody([event(0), event(1, { idempotencyKey: key }), identify(0)]);
    const batchId = randomUUID();
    const before = await fixture.stored();
    const [first, second] = await overlap(
      (connection, repeated) => ingestBatch(connection, { keyHash, batchId, repeated }, body),
      false,
    );
    expect(second.accepted).toBe(3);
    expect(second.eventIds).not.toEqual(first.eventIds);
    expect((await fixture.stored()).events - before.events).toBe(2);
  });
});
