import { randomUUID } from "node:crypto";
import type { Sql } from "postgres";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { ingestBatch, ingestSingles, type SinglesAnswer } from "../../../src/db/api/ingestion.js";
import { connect } from "../../../src/db/connect.js";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { waitingForLock } from "../../support/locks.js";
import { startIngest } from "./fixture.js";

// What the service relies on when a connection is lost: a call with the batch_id of an earlier one is that call.

const fixture = await startIngest();
const keyHash = hashCredential(fixture.keys.test);
const sql = connect(fixture.service.db.url, { max: 4, applicationName: "svc test", role: "svc_http" });
afterAll(async () => {
  await sql.end();
  await fixture.service.stop();
});

let key = "";
beforeEach(() => {
  key = randomUUID();
});

const event = (n: number, more: object = {}) => ({ customerId: `c${n % 3}`, event: `e${n}`, ...more });
const identify = (n: number) => ({ type: "identify", customerId: `c${n}`, traits: { n } });
const batchBody = (events: unknown[]) => JSON.stringify({ events });
const outcomes = ({ outcomes, accepted }: SinglesAnswer) => ({ outcomes, accepted });

describe("a batch that is repeated", () => {
  it.each([
    ["without keys", () => [event(0), identify(1), event(1), event(0)]],
    ["with keys", () => [event(0, { idempotencyKey: `${key}0` }), event(1, { idempotencyKey: `${key}1` })]],
    [
      "with keys, repetitions and without",
      () => [event(0, { idempotencyKey: key }), identify(2), event(0, { idempotencyKey: key }), event(3)],
    ],
    ["of identify operations", () => [identify(0), identify(1)]],
  ])("answers its first outcome and stores nothing twice: %s", async (_, makeEvents) => {
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

  it("whose first try came to nothing is accepted now", async () => {
    const before = await fixture.stored();
    const call = { keyHash, batchId: randomUUID(), repeated: true };
    const answer = await ingestBatch(sql, call, batchBody([event(0), event(1)]));
    expect(answer).toMatchObject({ accepted: 2 });
    expect((await fixture.stored()).events - before.events).toBe(2);
  });

  it("is answered also where the rate limit was reached meanwhile", async () => {
    const body = batchBody([event(0), event(1)]);
    const call = { keyHash, batchId: randomUUID() };
    const first = await ingestBatch(sql, { ...call, repeated: false }, body);
    const { sql: admin } = fixture.service.db;
    await admin`update svc.key_usage set tokens = -1e6`;
    try {
      const again = await ingestBatch(sql, { ...call, repeated: true }, body);
      expect(again).toMatchObject({ eventIds: first.eventIds, remaining: 0 });
    } finally {
      await admin`update svc.key_usage set tokens = 100000`;
    }
  });
});

describe("single events that are repeated", () => {
  const call = (events: object[], call = { batchId: randomUUID(), repeated: false }) =>
    ingestSingles(
      sql,
      { keyHash, ...call },
      events.map((each) => JSON.stringify(each)),
    );

  /** Sends them in a call, and that call again, which answers the same and stores nothing; answers the first outcomes. */
  async function repeat(events: object[]): Promise<SinglesAnswer["outcomes"]> {
    const batchId = randomUUID();
    const first = await call(events, { batchId, repeated: false });
    const stored = await fixture.stored();
    expect(outcomes(await call(events, { batchId, repeated: true }))).toEqual(outcomes(first));
    expect(await fixture.stored()).toEqual(stored);
    return first.outcomes;
  }
  const ID = expect.any(String) as string;

  it.each([
    ["without keys", () => [event(0), event(1), event(0)]],
    ["with keys", () => [event(0, { idempotencyKey: `${key}0` }), event(1, { idempotencyKey: `${key}1` })]],
    ["a key twice", () => [event(0, { idempotencyKey: key }), event(0, { idempotencyKey: key }), event(1)]],
    ["a conflict among them", () => [event(0, { idempotencyKey: key }), event(1, { idempotencyKey: key }), event(2)]],
  ])("answer their first outcomes and are stored once: %s", async (_, makeEvents) => {
    await repeat(makeEvents());
  });

  it("a repetition and a conflict of keys of other calls answer the same too", async () => {
    await call([event(0, { idempotencyKey: key })]);
    const events = [event(0, { idempotencyKey: key }), event(1, { idempotencyKey: key }), event(2)];
    expect(await repeat(events)).toMatchObject([[ID, true], { code: "IDEMPOTENCY_CONFLICT" }, [ID, false]]);
  });

  it("those that violated the schema are refused for it again", async () => {
    await fixture.deploy({ strictSchema: true, events: { e1: { properties: {} } } });
    const events = [event(1), event(2), event(1, { properties: { x: 1 } }), event(1, { idempotencyKey: key })];
    const refused = [{ code: "UNKNOWN_EVENT" }, { code: "UNKNOWN_PROPERTY" }];
    expect(await repeat(events)).toMatchObject([[ID, false], ...refused, [ID, false]]);
    await fixture.deploy({ strictSchema: false });
  });

  it("those that were over the limit are told to come again", async () => {
    const { sql: admin } = fixture.service.db;
    await admin`update svc.key_usage set tokens = 2, refilled_at = now() + interval '1 hour'`;
    try {
      const limited = { code: "RATE_LIMIT_EXCEEDED" };
      expect(await repeat([event(0), event(1), event(2), event(3)])).toMatchObject([
        [ID, false],
        [ID, false],
        limited,
        limited,
      ]);
    } finally {
      await admin`update svc.key_usage set tokens = 100000, refilled_at = now()`;
    }
  });
});

describe("a call that is repeated while its first try is still at work", () => {
  /** Holds the first call open after its work, starts the second, and lets the first commit or roll back. */
  async function overlap<T>(
    attempt: (connection: Sql, repeated: boolean) => Promise<T>,
    commit: boolean,
  ): Promise<[T, T]> {
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => (release = resolve));
    let first: T | undefined;
    let done = (): void => undefined;
    const worked = new Promise<void>((resolve) => (done = resolve));
    const held = sql
      .begin(async (tx) => {
        first = await attempt(tx as unknown as Sql, false);
        done();
        await released;
        if (!commit) throw new Error("rolled back");
      })
      .catch((error: unknown) => {
        if ((error as Error).message !== "rolled back") throw error;
      });
    await worked;
    const second = attempt(sql, true);
    await expect.poll(() => waitingForLock(fixture.service.db.sql)).toBe(1);
    release();
    await held;
    return [first as T, await second];
  }

  it.each([
    ["without keys", () => [event(0), event(1)]],
    ["with keys", () => [event(0, { idempotencyKey: `${key}a` }), event(1, { idempotencyKey: `${key}b` })]],
  ])("waits for it and answers its outcome: %s", async (_, makeEvents) => {
    const bodies = makeEvents().map((each) => JSON.stringify(each));
    const batchId = randomUUID();
    const before = await fixture.stored();
    const [first, second] = await overlap(
      (connection, repeated) => ingestSingles(connection, { keyHash, batchId, repeated }, bodies),
      true,
    );
    expect(outcomes(second)).toEqual(outcomes(first));
    expect((await fixture.stored()).events - before.events).toBe(2);
    expect((await fixture.stored()).batches - before.batches).toBe(1);
  });

  it("takes its place where it is rolled back", async () => {
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
