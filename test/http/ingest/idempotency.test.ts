import { afterAll, describe, expect, it } from "vitest";
import { conflict } from "../../spec/support/refusals.js";
import { someOf } from "../../support/property-runs.js";
import type { Reply } from "../../support/service.js";
import { eventIds, expectHelpfulRefusal } from "./answers.js";
import { batchOf, EVENT, EVENT_ID, startIngest, taken } from "./fixture.js";

const fixture = await startIngest();
const { sql } = fixture.service.db;
afterAll(() => fixture.service.stop());

let keys = 0;
const nextKey = () => `key ${++keys}`;

/** An event as JSON text, because spellings matter. Of a member that is there twice the last counts, so `more` may replace any. */
const text = (key: string, more: string): string =>
  `{"customerId":"c","event":"e","idempotencyKey":${JSON.stringify(key)}${more === "" ? "" : `,${more}`}}`;
const IDENTIFY = '{"type":"identify","customerId":"c","traits":{}}';

const single = (event: string): Promise<Reply> => fixture.single(event);
const batch = (...operations: string[]): Promise<Reply> => fixture.post("/v1/events/batch", batchOf(...operations));

const AT_TEN = '"timestamp":"2026-03-02T10:00:00Z"';
/** Pairs of spellings of one payload. */
const SAME: [name: string, first: string, second: string][] = [
  ["unchanged", '"properties":{"a":1}', '"properties":{"a":1}'],
  ["with properties in another order", '"properties":{"a":1,"b":2}', '"properties":{"b":2,"a":1}'],
  ["with nested members in another order", '"properties":{"a":[{"c":2,"d":3}]}', '"properties":{"a":[{"d":3,"c":2}]}'],
  ["with members in another order", '"event":"e","properties":{}', '"properties":{},"event":"e"'],
  ["with 1.0 for 1", '"properties":{"a":1}', '"properties":{"a":1.0}'],
  ["with 1e0 for 1", '"properties":{"a":[1]}', '"properties":{"a":[1e0]}'],
  ["with -0 for 0", '"properties":{"a":0}', '"properties":{"a":-0.0}'],
  ["with a fraction spelt otherwise", '"properties":{"a":[0.1000,-2.50]}', '"properties":{"a":[0.1,-25e-1]}'],
  ["with escapes", '"properties":{"a":"é😀"}', '"properties":{"\\u0061":"\\u00e9\\ud83d\\ude00"}'],
  ["with escapes in its names", '"customerId":"é","event":"é"', '"customerId":"\\u00e9","\\u0065vent":"\\u00E9"'],
  ["with a member twice", '"properties":{"a":2}', '"properties":{"a":1,"a":2}'],
  ["with empty properties or none", "", '"properties":{}'],
  ["with the type or without", "", '"type":"track"'],
  ["at one instant, in two offsets", AT_TEN, '"timestamp":"2026-03-02T11:00:00.000+01:00"'],
];

/** Pairs of different payloads. */
const OTHER: [name: string, first: string, second: string][] = [
  ["another customer", "", '"customerId":"d"'],
  ["another event", "", '"event":"f"'],
  ["customer and event divided otherwise", '"customerId":"ab","event":"c"', '"customerId":"a","event":"bc"'],
  ["an accent composed otherwise", '"customerId":"\\u00e9"', '"customerId":"e\\u0301"'],
  ["another value", '"properties":{"a":1}', '"properties":{"a":2}'],
  ["the negative of a number", '"properties":{"a":1}', '"properties":{"a":-1}'],
  ["a sign moved to another number", '"properties":{"a":-1,"b":1}', '"properties":{"a":1,"b":-1}'],
  ["numbers exchanged", '"properties":{"a":1,"b":0.0001}', '"properties":{"a":0.0001,"b":1}'],
  ["numbers ten thousand times as large", '"properties":{"a":0.5,"b":0.25}', '"properties":{"a":5000,"b":2500}'],
  ["the negative of a number in a list", '"properties":{"a":[1]}', '"properties":{"a":[-1]}'],
  ["a text for a number", '"properties":{"a":1}', '"properties":{"a":"1"}'],
  ["a number that reads as the same double", '"properties":{"a":1}', '"properties":{"a":1.000000000000000005}'],
  ["a number beyond a double", '"properties":{"a":12345678901234567890}', '"properties":{"a":12345678901234567891}'],
  ["null for nothing", '"properties":{}', '"properties":{"a":null}'],
  ["one property more", '"properties":{"a":1}', '"properties":{"a":1,"b":2}'],
  ["another order of a list", '"properties":{"a":[1,2]}', '"properties":{"a":[2,1]}'],
  ["a member moved into an object", '"properties":{"a":{"b":1},"c":2}', '"properties":{"a":{"b":1,"c":2}}'],
  ["an item moved into a list", '"properties":{"a":[[1],2]}', '"properties":{"a":[[1,2]]}'],
  ["lists in a list", '"properties":{"a":[]}', '"properties":{"a":[[[]]]}'],
  ["an empty list moved", '"properties":{"a":[[],{}]}', '"properties":{"a":[{},[]]}'],
  ["no explicit timestamp", AT_TEN, ""],
  ["an explicit timestamp", "", AT_TEN],
  ["another instant", AT_TEN, '"timestamp":"2026-03-02T10:00:00.001Z"'],
];

/** How two requests may carry a key. In batches the event stands behind an identify, so that its position counts. */
const WAYS = [
  { way: "in a single event, then in a single event", send: [single, single] },
  { way: "in a single event, then in a batch", send: [single, (event: string) => batch(IDENTIFY, event)] },
  { way: "in a batch, then in a single event", send: [(event: string) => batch(IDENTIFY, event), single] },
  { way: "in a batch, then in a batch", send: [batch, (event: string) => batch(IDENTIFY, event)] },
] as const;

/** Events and keys that were stored since. */
async function added(work: () => Promise<void>): Promise<{ events: number; keys: number }> {
  const before = await fixture.stored();
  await work();
  const after = await fixture.stored();
  return { events: after.events - before.events, keys: after.idempotencyKeys - before.idempotencyKeys };
}

/** Expects an accepted request that stands for one event, and answers its id; `duplicate` is told by single events only. */
function expectEvent(reply: Reply, duplicate?: boolean): string {
  const [id] = eventIds(reply);
  expect([reply.status, eventIds(reply)]).toEqual([202, [EVENT_ID]]);
  if (duplicate !== undefined && "duplicate" in (reply.body as object)) {
    expect(reply.body).toEqual(taken(duplicate, id));
  }
  return id!;
}

function expectConflict(reply: Reply, key: string): void {
  expect([reply.status, expectHelpfulRefusal(reply)]).toEqual([409, "IDEMPOTENCY_CONFLICT"]);
  expect(reply.body).toMatchObject({ error: { value: key } });
}

// Every pair is tried in some way, and all of them below in a batch, by the same function of the database.
describe.each(WAYS.map((way, turn) => ({ ...way, turn })))("a key $way", ({ send: [sendFirst, sendSecond], turn }) => {
  it.each(someOf(SAME, 4, turn))("is one event with the same payload %s, also at once", async (_, first, second) => {
    const [key, together] = [nextKey(), nextKey()];
    const stored = await added(async () => {
      const id = expectEvent(await sendFirst(text(key, first)), false);
      expect(expectEvent(await sendSecond(text(key, second)), true)).toBe(id);
      expect(expectEvent(await sendFirst(text(key, first)), true)).toBe(id);
      const replies = await Promise.all([sendFirst(text(together, first)), sendSecond(text(together, second))]);
      expect(new Set(replies.map((reply) => expectEvent(reply))).size).toBe(1);
      const flags = replies.map(({ body }) => (body as { duplicate?: boolean }).duplicate);
      // A batch does not tell whether it was the first.
      if (!flags.includes(undefined)) expect(flags.toSorted()).toEqual([false, true]);
    });
    expect(stored).toEqual({ events: 2, keys: 2 });
  });

  it.each(someOf(OTHER, 6, turn))("conflicts with %s, and stands for one, also at once", async (_, first, second) => {
    const [key, together] = [nextKey(), nextKey()];
    const requests = [() => sendFirst(text(together, first)), () => sendSecond(text(together, second))];
    const stored = await added(async () => {
      const id = expectEvent(await sendFirst(text(key, first)), false);
      expectConflict(await sendSecond(text(key, second)), key);
      expect(expectEvent(await sendFirst(text(key, first)), true)).toBe(id);
      const replies = await Promise.all(requests.map((request) => request()));
      expect(replies.map(({ status }) => status).toSorted()).toEqual([202, 409]);
      const again = await Promise.all(requests.map((request) => request()));
      for (const [index, reply] of replies.entries()) {
        if (reply.status === 202) expect(expectEvent(again[index]!, true)).toBe(expectEvent(reply, false));
        else for (const refused of [reply, again[index]!]) expectConflict(refused, together);
      }
    });
    expect(stored).toEqual({ events: 2, keys: 2 });
  });
});

describe("a key that is twice in a batch", () => {
  it.each(SAME)("is one event with the same payload %s", async (_, first, second) => {
    const key = nextKey();
    const send = () => batch(text(key, first), IDENTIFY, text(key, second));
    const stored = await added(async () => {
      const replies = [...(await Promise.all([send(), send()])), await send()];
      const [id] = eventIds(replies[0]!);
      const answer = { accepted: 3, rejected: 0, eventIds: [id, id] };
      expect(replies.map(({ body }) => body)).toEqual([answer, answer, answer]);
    });
    expect(stored).toEqual({ events: 1, keys: 1 });
  });

  it.each(OTHER)("conflicts with %s, and stays free", async (_, first, second) => {
    const key = nextKey();
    const send = () => batch(text(key, first), IDENTIFY, text(key, second));
    const stored = await added(async () => {
      for (const reply of await Promise.all([send(), send()])) {
        expectConflict(reply, key);
        expect(reply.body).toMatchObject({ error: { field: "events[2].idempotencyKey" } });
      }
    });
    expect(stored).toEqual({ events: 0, keys: 0 });
    expectEvent(await single(text(key, second)), false);
  });
});

it("a conflict in a batch refuses it whole, and its other keys stay free", async () => {
  const [free, used] = [nextKey(), nextKey()];
  const other = '"properties":{"another":"payload"}';
  expectEvent(await single(text(used, "")));
  const request = () => batch(text(free, ""), EVENT, text(used, other), text(used, ""));
  await fixture.refuses(request, 409, conflict("events[2].idempotencyKey", used));
  expectEvent(await single(text(free, other)), false);
});

it("keys differ by case, white space and accents", async () => {
  for (const key of ["Case", "case", "case ", "cas\u00e9", "case\u0301"]) {
    expectEvent(await single(text(key, `"properties":${JSON.stringify({ key })}`)), false);
  }
});

it("a key is known after the raw event is gone", async () => {
  const key = nextKey();
  const original = expectEvent(await single(text(key, "")));
  await sql`delete from svc.events where svc.event_id(event_seq) = ${original}`;
  expect(expectEvent(await single(text(key, "")), true)).toBe(original);
});
