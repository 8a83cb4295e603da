import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import path from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ingestBatch, ingestSingles } from "../../../src/db/api/ingestion.js";
import { hashCredential } from "../../../src/http/request/credentials.js";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { docBlocks } from "../../support/doc-blocks.js";
import { violations } from "../../support/invariants.js";
import { EVENT_ID, taken, useIngest } from "./fixture.js";

const fixture = await useIngest();
const { sql } = fixture.service.db;

const MODEL: Partial<Snapshot> = {
  strictSchema: true,
  onViolation: "quarantine",
  events: { order: { properties: { amount: { type: "number" } } } },
  traits: { plan: { type: "string" } },
};

const UNKNOWN = {
  code: "UNKNOWN_EVENT",
  message: 'The event "logout" is not declared by the active configuration.',
  path: "event",
};

beforeAll(() => fixture.deploy(MODEL));
beforeEach(async () => {
  await sql`truncate svc.events, svc.trait_updates, svc.inbox, svc.ingest_batches, svc.idempotency_keys,
    svc.quarantined_operations, svc.quarantines`;
  await sql`update svc.key_usage set month_events = 0`;
});

const inQuarantine = async () =>
  (
    await sql<{ operation: string }[]>`
    select operation::text from svc.quarantined_operations order by seq`
  ).map(({ operation }) => operation);

describe("with a strict schema that quarantines violations", () => {
  it("accepts an event with a mark, as docs/ingestion.md shows, counts it, and keeps it unchanged and separate", async () => {
    const guide = readFileSync(path.resolve(import.meta.dirname, "../../../docs/ingestion.md"), "utf8");
    const shown = docBlocks(guide).find(({ code }) => code.includes('"quarantined": {'))!;
    const sent = `{"event":"logout","customerId":"c","properties":{"big":12345678901234567890,"small":0.1000},"idempotencyKey":"k"}`;
    const { status, body } = await fixture.single(sent);
    expect([status, body]).toEqual([202, { ...(JSON.parse(shown.code) as object), eventId: EVENT_ID }]);
    expect(await fixture.stored()).toMatchObject({ events: 0, inbox: 0, idempotencyKeys: 1, batches: 1 });
    const [kept, ...others] = await inQuarantine();
    expect(others).toEqual([]);
    expect(kept).toContain("12345678901234567890");
    expect(kept).toContain("0.1000");
    const [row] =
      await sql`select month_events::integer from svc.key_usage where key_hash = ${hashCredential(fixture.keys.test)}`;
    expect(row).toEqual({ month_events: 1 });
    expect(await violations(sql)).toEqual([]);
  });

  it("recognizes repetitions of an operation in quarantine, and another payload under its key", async () => {
    const event = { customerId: "c", event: "logout", idempotencyKey: "k" };
    const first = await fixture.single(event);
    const { eventId } = first.body as { eventId: string };
    expect((await fixture.single(event)).body).toEqual({ ...(taken(true, eventId) as object), quarantined: UNKNOWN });
    const batch = await fixture.batch([event, event]);
    expect(batch.body).toMatchObject({ accepted: 2, eventIds: [eventId, eventId] });
    expect(await fixture.single({ ...event, properties: { a: 1 } })).toMatchObject({ status: 409 });
    expect(await inQuarantine()).toHaveLength(1);
    expect(await violations(sql)).toEqual([]);
  });

  it("reports for each operation of a batch whether it is in quarantine, and stores the others as usual", async () => {
    const good = { customerId: "c", event: "order", properties: { amount: 1 } };
    expect((await fixture.batch([good])).body).toEqual({ accepted: 1, rejected: 0, eventIds: [EVENT_ID] });
    const reply = await fixture.batch([
      good,
      { customerId: "c", event: "order", properties: { amount: "1" } },
      { type: "identify", customerId: "c", traits: { plan: 7 } },
      { type: "identify", customerId: "c", traits: { plan: "pro" } },
      { customerId: "d", event: "logout" },
    ]);
    expect(reply).toMatchObject({
      status: 202,
      body: {
        accepted: 5,
        rejected: 0,
        eventIds: [EVENT_ID, EVENT_ID, EVENT_ID],
        quarantined: [
          { index: 1, code: "INVALID_PROPERTY_TYPE", path: "properties.amount" },
          { index: 2, code: "INVALID_TRAIT_TYPE", path: "traits.plan" },
          { index: 4, ...UNKNOWN },
        ],
      },
    });
    expect(await fixture.stored()).toMatchObject({ events: 2, traitUpdates: 1, inbox: 3 });
    expect(await inQuarantine()).toHaveLength(3);
    expect(await violations(sql)).toEqual([]);
  });

  it("refuses like a strict schema once it is full, and says so", async () => {
    await sql`insert into svc.quarantines (environment_id, operations, bytes)
      select environment_id, svc.quarantine_limit(), 1 from svc.environments where name = 'test'`;
    const reason = expect.stringMatching(/^The quarantine of this environment is full\./) as string;
    const error = {
      code: "UNKNOWN_EVENT",
      reason,
      fix: expect.stringContaining("svc events quarantine release") as string,
    };
    expect(await fixture.single({ customerId: "c", event: "logout" })).toMatchObject({ status: 422, body: { error } });
    const good = { customerId: "c", event: "order", properties: { amount: 1 } };
    const batch = await fixture.batch([good, { customerId: "c", event: "logout" }]);
    expect(batch).toMatchObject({ status: 422, body: { error: { ...error, field: "events[1].event" } } });
    expect((await fixture.single(good)).status).toBe(202);
    expect(await inQuarantine()).toEqual([]);
  });

  it("answers repetitions of what is in quarantine while it is full", async () => {
    const logout = (idempotencyKey: string, more = {}) => ({
      customerId: "c",
      event: "logout",
      idempotencyKey,
      ...more,
    });
    const events = [logout("k1"), logout("k2")];
    const { eventIds } = (await fixture.batch(events)).body as { eventIds: string[] };
    const kept = await inQuarantine();
    const leaveRoom = (operations: number) =>
      sql`update svc.quarantines set operations = svc.quarantine_limit() - ${operations}`;
    await leaveRoom(0);
    expect((await fixture.single(events[0]!)).body).toEqual({
      ...(taken(true, eventIds[0]) as object),
      quarantined: UNKNOWN,
    });
    expect(await fixture.batch(events)).toMatchObject({
      status: 202,
      body: {
        eventIds,
        quarantined: [
          { index: 0, ...UNKNOWN },
          { index: 1, ...UNKNOWN },
        ],
      },
    });
    expect(await fixture.single(logout("k1", { properties: { a: 1 } }))).toMatchObject({ status: 409 });
    const full = (index: number) => ({
      status: 422,
      body: { error: { code: "UNKNOWN_EVENT", field: `events[${index}].event` } },
    });
    expect(await fixture.batch([...events, logout("k3")])).toMatchObject(full(2));
    // Sent separately, each has its own outcome.
    const singles = { keyHash: hashCredential(fixture.keys.test), batchId: randomUUID(), repeated: false };
    const outcomes = await ingestSingles(
      sql,
      singles,
      [logout("k4"), events[1]].map((event) => JSON.stringify(event)),
    );
    expect(outcomes.map(({ outcome }) => outcome)).toMatchObject([{ code: "UNKNOWN_EVENT" }, { eventId: eventIds[1] }]);
    expect(await inQuarantine()).toEqual(kept);

    await leaveRoom(1);
    const two = [logout("k5"), logout("k6")];
    expect(await fixture.batch(two)).toMatchObject(full(0));
    expect(await fixture.batch([...events, two[0]!, two[0]!])).toMatchObject({ status: 202 });
    expect(await inQuarantine()).toHaveLength(kept.length + 1);
  });

  it("answers a repeated call whose answer was lost", async () => {
    const keyHash = hashCredential(fixture.keys.test);
    const logout = { customerId: "c", event: "logout" };
    const call = { keyHash, batchId: randomUUID() };
    const body = JSON.stringify({ events: [logout, { ...logout, idempotencyKey: "k" }] });
    const answer = await ingestBatch(sql, { ...call, repeated: false }, body);
    expect(answer.quarantined).toEqual({ 0: UNKNOWN, 1: UNKNOWN });
    expect(await ingestBatch(sql, { ...call, repeated: true }, body)).toMatchObject({
      eventIds: answer.eventIds,
      quarantined: answer.quarantined,
    });
    const single = { keyHash, batchId: randomUUID() };
    const [outcome] = await ingestSingles(sql, { ...single, repeated: false }, [JSON.stringify(logout)]);
    const [again] = await ingestSingles(sql, { ...single, repeated: true }, [JSON.stringify(logout)]);
    expect(again!.outcome).toEqual(outcome!.outcome);
    expect(await inQuarantine()).toHaveLength(3);
  });

  it("keeps twenty violations of an operation that has thousands", async () => {
    const properties = Object.fromEntries(Array.from({ length: 3000 }, (_, n) => [`p${n}`, n]));
    expect((await fixture.single({ customerId: "c", event: "order", properties })).status).toBe(202);
    const [row] = await sql`select jsonb_array_length(violations) as listed from svc.quarantined_operations`;
    expect(row).toEqual({ listed: 20 });
  });
});
