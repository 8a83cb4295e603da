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
  await admin`update svc.key_usage set tokens = ${tokens}, refilled_at = now() + interval '9 seconds'`;
  await work();
  await admin`update svc.key_usage set tokens = 100000, refilled_at = now()`;
}

/** Operations of a call, by what is special about them. */
const CALLS: [name: string, make: () => object[]][] = [
  ["without keys", () => [event(0), event(1), event(0)]],
  ["with keys", () => [event(0, { idempotencyKey: `${key}0` }), event(1, { idempotencyKey: `${key}1` })]],
  ["a key twice", () => [event(0, { idempotencyKey: key }), event(0, { idempotencyKey: key }), event(3)]],
];

it.each([
  ...CALLS,
  ["identify operations", () => [identify(0), identify(1)]] as const,
  ["events and identify operations", () => [event(0, { idempotencyKey: key }), identify(2), event(1)]] as const,
])("a batch that is repeated returns its first outcome and stores nothing twice: %s", async (_, make) => {
  const body = batchBody(make());
  const call = { keyHash, batchId: randomUUID() };
  const first = await ingestBatch(sql, { ...call, repeated: false }, body);
  const stored = await fixture.stored();
  const repeat = () => ingestBatch(sql, { ...call, repeated: true }, body);
  expect(await repeat()).toMatchObject({ eventIds: first.eventIds, accepted: first.accepted });
  // Also if the rate limit has been reached meanwhile.
  await whileLimited(-1e6, async () => {
    expect(await repeat()).toMatchObject({ eventIds: first.eventIds, accepted: first.accepted, remaining: 0 });
  });
  expect(await fixture.stored()).toEqual(stored);
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

  it.each(CALLS)("return their first outcomes and are stored once: %s", async (_, make) => {
    await repeat(make());
  });

  it("with a repetition and a conflict, of the same call or another one, they return the same, too", async () => {
    const events = [event(0, { idempotencyKey: key }), event(1, { idempotencyKey: key }), event(2)];
    const conflict = { code: "IDEMPOTENCY_CONFLICT" };
    expect(await repeat(events)).toMatchObject([taken(false), conflict, taken(false)]);
    expect(await repeat(events)).toMatchObject([taken(true), conflict, taken(false)]);
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
