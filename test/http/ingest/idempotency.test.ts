import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EVENT_ID, expectRefusal, startIngest, taken, type IngestFixture } from "./fixture.js";

let fixture: IngestFixture;
beforeAll(async () => {
  fixture = await startIngest();
});
afterAll(() => fixture.service.stop());

let keys = 0;
const nextKey = () => `key ${++keys}`;
const MESSAGE = "The idempotency key was used before with another customer, event, properties or explicit timestamp.";
const FIX = "Use a new key for another payload; repeat a request unchanged.";

/** An event as JSON text, because spellings matter; `more` goes in front of the key. */
const text = (key: string, more: string, customerId = "c", event = "e"): string =>
  `{"customerId":${JSON.stringify(customerId)},"event":${JSON.stringify(event)}${more === "" ? "" : `,${more}`},"idempotencyKey":${JSON.stringify(key)}}`;

const idOf = (body: unknown): string => (body as { eventId: string }).eventId;

/** Pairs of spellings of one payload. */
const SAME: [name: string, first: string, second: string][] = [
  ["unchanged", '"properties":{"a":1}', '"properties":{"a":1}'],
  ["in another order of keys", '"properties":{"a":1,"b":{"c":2,"d":3}}', '"properties":{"b":{"d":3,"c":2},"a":1}'],
  ["with numbers spelt otherwise", '"properties":{"a":1,"b":[100]}', '"properties":{"a":1.0,"b":[1e2]}'],
  ["with a fraction spelt otherwise", '"properties":{"a":[0.1000,-2.50]}', '"properties":{"a":[0.1,-25e-1]}'],
  ["with escapes", '"properties":{"a":"é😀"}', '"properties":{"\\u0061":"\\u00e9\\ud83d\\ude00"}'],
  ["with a key twice", '"properties":{"a":2}', '"properties":{"a":1,"a":2}'],
  ["with empty properties or none", "", '"properties":{}'],
  ["with the type or without", "", '"type":"track"'],
  [
    "at one instant, in two offsets",
    '"timestamp":"2026-03-02T10:00:00Z"',
    '"timestamp":"2026-03-02T11:00:00.000+01:00"',
  ],
];

/** Pairs of different payloads. */
const OTHER: [name: string, first: string, second: string][] = [
  ["another value", '"properties":{"a":1}', '"properties":{"a":2}'],
  ["a text for a number", '"properties":{"a":1}', '"properties":{"a":"1"}'],
  [
    "a number beyond double precision",
    '"properties":{"a":12345678901234567890}',
    '"properties":{"a":12345678901234567891}',
  ],
  ["null for nothing", '"properties":{}', '"properties":{"a":null}'],
  ["one property more", '"properties":{"a":1}', '"properties":{"a":1,"b":2}'],
  ["another order of a list", '"properties":{"a":[1,2]}', '"properties":{"a":[2,1]}'],
  ["a member moved into an object", '"properties":{"a":{"b":1},"c":2}', '"properties":{"a":{"b":1,"c":2}}'],
  ["an item moved into a list", '"properties":{"a":[[1],2]}', '"properties":{"a":[[1,2]]}'],
  ["lists in a list", '"properties":{"a":[]}', '"properties":{"a":[[[]]]}'],
  ["an empty list moved", '"properties":{"a":[[],{}]}', '"properties":{"a":[{},[]]}'],
  ["no explicit timestamp", '"timestamp":"2026-03-02T10:00:00Z"', ""],
  ["an explicit timestamp", "", '"timestamp":"2026-03-02T10:00:00Z"'],
  ["another instant", '"timestamp":"2026-03-02T10:00:00Z"', '"timestamp":"2026-03-02T10:00:00.001Z"'],
];

describe("POST /v1/events with a key that was used", () => {
  it.each(SAME)("answers the original event to the same payload %s", async (_, first, second) => {
    const key = nextKey();
    const original = await fixture.single(text(key, first));
    expect(original.body).toEqual(taken());
    const stored = await fixture.stored();
    for (const body of [text(key, second), text(key, first)]) {
      const again = await fixture.single(body);
      expect({ status: again.status, body: again.body }).toEqual({
        status: 202,
        body: taken(true, idOf(original.body)),
      });
    }
    expect(await fixture.stored()).toEqual(stored);
  });

  it.each(OTHER)("answers IDEMPOTENCY_CONFLICT to %s, and still knows the first", async (_, first, second) => {
    const key = nextKey();
    const original = await fixture.single(text(key, first));
    expect(original.status).toBe(202);
    await expectRefusal(fixture, () => fixture.single(text(key, second)), 409, "IDEMPOTENCY_CONFLICT", MESSAGE, {
      field: "idempotencyKey",
      value: key,
      fix: FIX,
    });
    expect((await fixture.single(text(key, first))).body).toEqual(taken(true, idOf(original.body)));
  });

  it("answers IDEMPOTENCY_CONFLICT to another customer or event", async () => {
    const key = nextKey();
    expect((await fixture.single(text(key, "", "ab", "c"))).status).toBe(202);
    for (const body of [text(key, "", "a", "c"), text(key, "", "ab", "d"), text(key, "", "a", "bc")]) {
      await expectRefusal(fixture, () => fixture.single(body), 409, "IDEMPOTENCY_CONFLICT", MESSAGE, {
        field: "idempotencyKey",
        value: key,
        fix: FIX,
      });
    }
  });

  it("takes it in the other environment, where it is another key", async () => {
    const key = nextKey();
    const live = { Authorization: `Bearer ${fixture.keys.live}` };
    const replies = [
      await fixture.single(text(key, "")),
      await fixture.single(text(key, '"properties":{"a":1}'), live),
    ];
    expect(replies.map((reply) => reply.body)).toEqual([taken(), taken()]);
  });

  it("tells keys apart by case, white space and accents", async () => {
    for (const key of ["Case", "case", "case ", "cas\u00e9", "case\u0301"]) {
      expect((await fixture.single(text(key, `"properties":${JSON.stringify({ key })}`))).body).toEqual(taken());
    }
  });

  it("knows it after the raw event is gone", async () => {
    const key = nextKey();
    const original = await fixture.single(text(key, ""));
    const { sql } = fixture.service.db;
    await sql`delete from svc.events where svc.event_id(event_seq) = ${idOf(original.body)}`;
    expect((await fixture.single(text(key, ""))).body).toEqual(taken(true, idOf(original.body)));
  });
});

describe("POST /v1/events/batch with keys that were used", () => {
  const batch = (...events: string[]) => fixture.post("/v1/events/batch", `{"events":[${events.join(",")}]}`);
  const accepted = (...eventIds: string[]): unknown => ({ accepted: eventIds.length, rejected: 0, eventIds });

  it.each(SAME)("answers the original event in its position to the same payload %s", async (_, first, second) => {
    const [key, fresh] = [nextKey(), nextKey()];
    const original = idOf((await fixture.single(text(key, first))).body);
    const stored = await fixture.stored();
    const reply = await batch(text(fresh, ""), text(key, second), text(key, first));
    expect({ status: reply.status, body: reply.body }).toEqual({
      status: 202,
      body: accepted(EVENT_ID, original, original),
    });
    expect((reply.body as { eventIds: string[] }).eventIds[0]).not.toBe(original);
    expect((await fixture.stored()).events - stored.events).toBe(1);
  });

  it.each(SAME)("stores an event once that is twice in it %s", async (_, first, second) => {
    const key = nextKey();
    const stored = await fixture.stored();
    const reply = await batch(text(key, first), text(key, second));
    const [id] = (reply.body as { eventIds: [string] }).eventIds;
    expect({ status: reply.status, body: reply.body }).toEqual({ status: 202, body: accepted(id, id) });
    expect((await fixture.stored()).events - stored.events).toBe(1);
  });

  it.each(OTHER)("refuses it whole for %s under a key of an earlier request", async (_, first, second) => {
    const key = nextKey();
    expect((await fixture.single(text(key, first))).status).toBe(202);
    await expectRefusal(
      fixture,
      () => batch(text(nextKey(), ""), '{"customerId":"c","event":"e"}', text(key, second), text(key, first)),
      409,
      "IDEMPOTENCY_CONFLICT",
      MESSAGE,
      { field: "events[2].idempotencyKey", value: key, fix: FIX },
    );
  });

  it.each(OTHER)("refuses it whole for %s under a key of its own", async (_, first, second) => {
    const key = nextKey();
    await expectRefusal(
      fixture,
      () => batch('{"type":"identify","customerId":"c","traits":{}}', text(key, first), text(key, second)),
      409,
      "IDEMPOTENCY_CONFLICT",
      MESSAGE,
      { field: "events[2].idempotencyKey", value: key, fix: FIX },
    );
  });

  it("leaves the keys of a batch free that was refused", async () => {
    const [free, taken_] = [nextKey(), nextKey()];
    expect((await fixture.single(text(taken_, ""))).status).toBe(202);
    const reply = await batch(text(free, ""), text(taken_, '"properties":{"a":1}'));
    expect(reply.status).toBe(409);
    expect((await fixture.single(text(free, '"properties":{"another":"payload"}'))).body).toEqual(taken());
  });

  it("changes nothing when it is sent again whole, but for identify operations, which have no keys", async () => {
    const events = [text(nextKey(), ""), text(nextKey(), '"properties":{"a":1}')];
    const first = await batch(...events);
    const stored = await fixture.stored();
    const second = await batch(...events);
    expect({ status: second.status, body: second.body }).toEqual({ status: 202, body: first.body });
    expect(await fixture.stored()).toEqual(stored);
    const identify = '{"type":"identify","customerId":"c","traits":{"plan":"pro"}}';
    expect((await batch(...events, identify)).body).toEqual({ ...(first.body as object), accepted: 3 });
    expect((await fixture.stored()).events).toBe(stored.events);
  });
});

it("many at once with one key agree on one event, and the others conflict", async () => {
  const key = nextKey();
  const stored = await fixture.stored();
  const replies = await Promise.all(
    Array.from({ length: 40 }, (_, n) => fixture.single(text(key, `"properties":{"side":${n % 2}}`))),
  );
  const winners = replies.filter((reply) => reply.status === 202);
  const conflicts = replies.filter((reply) => reply.status === 409);
  expect([winners.length, conflicts.length]).toEqual([20, 20]);
  expect(new Set(winners.map((reply) => idOf(reply.body))).size).toBe(1);
  expect(winners.filter((reply) => !(reply.body as { duplicate: boolean }).duplicate)).toHaveLength(1);
  expect((await fixture.stored()).events - stored.events).toBe(1);
});
