import { randomUUID } from "node:crypto";
import type { Sql } from "postgres";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ingestBatch, ingestSingles, type SinglesAnswer } from "../../../src/db/api/ingestion.js";
import { connect } from "../../../src/db/connect.js";
import { hashCredential } from "../../../src/http/request/credentials.js";
import { startIngest, type IngestFixture } from "./fixture.js";

// What the service relies on when a connection is lost: a call with the batch_id of an earlier one is that call.

let fixture: IngestFixture;
let keyHash: Buffer;
let sql: Sql;
beforeAll(async () => {
  fixture = await startIngest();
  keyHash = hashCredential(fixture.keys.test);
  sql = connect(fixture.service.db.url, { max: 4, applicationName: "svc test", role: "svc_http" });
});
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
    const answer = await ingestBatch(
      sql,
      { keyHash, batchId: randomUUID(), repeated: true },
      batchBody([event(0), event(1)]),
    );
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
  const texts = (events: object[]) => events.map((each) => JSON.stringify(each));

  it.each([
    ["without keys", () => [event(0), event(1), event(0)]],
    ["with keys", () => [event(0, { idempotencyKey: `${key}0` }), event(1, { idempotencyKey: `${key}1` })]],
    ["a key twice", () => [event(0, { idempotencyKey: key }), event(0, { idempotencyKey: key }), event(1)]],
    ["a conflict among them", () => [event(0, { idempotencyKey: key }), event(1, { idempotencyKey: key }), event(2)]],
  ])("answer their first outcomes and are stored once: %s", async (_, makeEvents) => {
    const bodies = texts(makeEvents());
    const call = { keyHash, batchId: randomUUID() };
    const first = await ingestSingles(sql, { ...call, repeated: false }, bodies);
    const stored = await fixture.stored();
    const again = await ingestSingles(sql, { ...call, repeated: true }, bodies);
    expect(outcomes(again)).toEqual(outcomes(first));
    expect(await fixture.stored()).toEqual(stored);
  });

  it("a repetition and a conflict of keys of other calls answer the same too", async () => {
    await ingestSingles(
      sql,
      { keyHash, batchId: randomUUID(), repeated: false },
      texts([event(0, { idempotencyKey: key })]),
    );
    const bodies = texts([event(0, { idempotencyKey: key }), event(1, { idempotencyKey: key }), event(2)]);
    const call = { keyHash, batchId: randomUUID() };
    const first = await ingestSingles(sql, { ...call, repeated: false }, bodies);
    expect(first.outcomes).toMatchObject([
      [expect.any(String), true],
      { code: "IDEMPOTENCY_CONFLICT" },
      [expect.any(String), false],
    ]);
    const again = await ingestSingles(sql, { ...call, repeated: true }, bodies);
    expect(outcomes(again)).toEqual(outcomes(first));
  });

  it("those that violated the schema are refused for it again", async () => {
    await fixture.deploy({ strictSchema: true, events: { e1: { properties: {} } } });
    const bodies = texts([event(1), event(2), event(1, { properties: { x: 1 } }), event(1, { idempotencyKey: key })]);
    const call = { keyHash, batchId: randomUUID() };
    const first = await ingestSingles(sql, { ...call, repeated: false }, bodies);
    expect(first.outcomes).toMatchObject([
      [expect.any(String), false],
      { code: "UNKNOWN_EVENT" },
      { code: "UNKNOWN_PROPERTY" },
      [expect.any(String), false],
    ]);
    const stored = await fixture.stored();
    const again = await ingestSingles(sql, { ...call, repeated: true }, bodies);
    expect(outcomes(again)).toEqual(outcomes(first));
    expect(await fixture.stored()).toEqual(stored);
    await fixture.deploy({ strictSchema: false });
  });

  it("those that were over the limit are told to come again", async () => {
    const { sql: admin } = fixture.service.db;
    await admin`update svc.key_usage set tokens = 2, refilled_at = now() + interval '1 hour'`;
    try {
      const bodies = texts([event(0), event(1), event(2), event(3)]);
      const call = { keyHash, batchId: randomUUID() };
      const first = await ingestSingles(sql, { ...call, repeated: false }, bodies);
      expect(first.outcomes).toMatchObject([
        [expect.any(String), false],
        [expect.any(String), false],
        { code: "RATE_LIMIT_EXCEEDED" },
        { code: "RATE_LIMIT_EXCEEDED" },
      ]);
      const again = await ingestSingles(sql, { ...call, repeated: true }, bodies);
      expect(outcomes(again)).toEqual(outcomes(first));
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
    await expect
      .poll(async () => {
        const rows = await fixture.service.db
          .sql`select from pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`;
        return rows.length;
      })
      .toBe(1);
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

it("batches that share keys in different orders do not deadlock, and agree on who won", async () => {
  const shared = Array.from({ length: 60 }, (_, n) => `${key} ${n}`);
  const operation = (each: string) => event(0, { idempotencyKey: each });
  const orders = Array.from({ length: 12 }, (_, n) => [...shared.slice(n * 5), ...shared.slice(0, n * 5)]).map(
    (order, n) => (n % 2 === 0 ? order : order.toReversed()),
  );
  const before = await fixture.stored();
  const answers = await Promise.all(
    orders.map((order) =>
      ingestBatch(sql, { keyHash, batchId: randomUUID(), repeated: false }, batchBody(order.map(operation))),
    ),
  );
  const winners = new Map<string, Set<string>>();
  answers.forEach(({ eventIds }, n) =>
    orders[n]?.forEach((each, position) => {
      winners.set(each, (winners.get(each) ?? new Set()).add(eventIds[position] ?? ""));
    }),
  );
  expect([...winners.values()].map((ids) => ids.size)).toEqual(shared.map(() => 1));
  expect((await fixture.stored()).events - before.events).toBe(shared.length);
});
