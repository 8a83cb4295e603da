import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { soundInstant } from "../../../fuzz/values.js";
import { PUNCTUAL_MILLISECONDS } from "../../../src/engine/timers.js";
import { parseTimestamp, timestampProblem } from "../../../src/ingestion/timestamp.js";
import { DOCUMENT_BYTES, documentOf } from "../../spec/support/fixture.js";
import { empty, invalid, notOfTrack, tooLarge, wrongType } from "../../spec/support/refusals.js";
import { propertyRuns } from "../../support/property-runs.js";
import { eventIds, type Refusal } from "./answers.js";
import { batchOf, EVENT, eventText, useIngest } from "./fixture.js";
import { headOf, openConnection } from "./raw-connection.js";

// Rules about fields of operations that test/spec does not cover.

const fixture = await useIngest();
const { sql } = fixture.service.db;

const valid = { customerId: "c", event: "e" };
/** 256 code points, 512 UTF-16 units, 1,024 bytes. */
const FULL = "😀".repeat(256);
const numbered = Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`colour${n}`, n]));
const LONG = "n".repeat(100_000);

it("256 code points in each text are accepted, and white space", async () => {
  for (const body of [
    { customerId: FULL, event: FULL, idempotencyKey: FULL },
    { customerId: " ", event: "\t", idempotencyKey: "\n" },
  ])
    expect((await fixture.single(body)).status).toBe(202);
});

it.each<[name: string, operation: unknown, refusal: (field: string) => Refusal, field: string]>([
  ["with an empty customerId", { ...valid, customerId: "" }, empty, "customerId"],
  ["with an empty event", { ...valid, event: "" }, empty, "event"],
  ["with traits", { ...valid, traits: {} }, notOfTrack, "traits"],
  ["with twenty unknown members", { ...numbered, ...valid }, notOfTrack, "colour0"],
  ["with a member called constructor", { ...valid, constructor: 1 }, notOfTrack, "constructor"],
  ["with a member called __proto__", EVENT.replace("}", ',"__proto__":{"x":1}}'), notOfTrack, "__proto__"],
  ["with a member whose name is a path", { ...valid, "a/b~c": 1 }, notOfTrack, "a/b~c"],
  ["with a very long name, which is cut,", { ...valid, [LONG]: 1 }, notOfTrack, `${LONG.slice(0, 100)}…`],
])("an event %s is refused", async (_, operation, refusal, field) => {
  await fixture.refusesOperation(operation, 400, (prefix) => refusal(prefix + field));
});

it("what is no event or batch is refused, and an event's endpoint names that of batches", async () => {
  for (const value of [[], null, "text", 5]) {
    const body = invalid({ message: "The body must be a JSON object.", value, fix: "Send an object." });
    await fixture.refusesOperation(JSON.stringify(value), 400, (prefix) =>
      prefix === "" ? body : wrongType("events[1]", "an object", value),
    );
  }
  for (const body of ['{"events":null}', '{"events":{"0":{}}}', "null"]) {
    const named = { message: "`events` must be an array.", field: "events" };
    const what = body === "null" ? { message: "The body must be a JSON object." } : named;
    const refusal = invalid({ ...what, fix: 'Send {"events": [ … ]}.' });
    await fixture.refuses(() => fixture.post("/v1/events/batch", body), 400, refusal);
  }
  const fix = "Send batches to POST /v1/events/batch.";
  await fixture.refuses(() => fixture.single({ events: [valid] }), 400, { ...notOfTrack("events"), fix });
  const more = invalid({ message: "`__proto__` is not a field of a batch.", field: "__proto__", fix: "Remove it." });
  const body = batchOf(EVENT).replace("]", '],"__proto__":true');
  await fixture.refuses(() => fixture.post("/v1/events/batch", body), 400, more);
});

describe("sizes", () => {
  const list = (length: number, literal: string) => eventText(`{"a":[${Array(length).fill(literal).join(",")}]}`);

  it("do not include white space and escapes of the sender", async () => {
    const spaced = JSON.stringify({ ...valid, properties: documentOf(DOCUMENT_BYTES) }, null, 2);
    expect((await fixture.single(spaced.replaceAll("€", "\\u20ac"))).status).toBe(202);
  });

  // 1e20 is 21 digits, 1e308 is 309.
  it.each([
    ["1e20", 4000],
    ["1e308", 250],
    ["-1.5E-300", 250],
    ["0e-300", 250],
    [`0.${"1".repeat(300)}`, 250],
    [`1.${"0".repeat(100)}e-200`, 250],
  ])("count a number as written out: %s", async (literal, count) => {
    const error = { field: "events[1].properties", message: "`events[1].properties` is too large." };
    const reply = await fixture.post("/v1/events/batch", batchOf(EVENT, list(count, literal)));
    expect(reply.body).toMatchObject({ error });
    expect((await fixture.single(list(count / 2, literal))).status).toBe(202);
  });

  it("count every digit of a number", async () => {
    // Each is 302 characters and a comma; `{"a":[` and `],"b":""}` are fifteen.
    const numbers = Array(216).fill(`0.${"1".repeat(300)}`);
    const exact = (rest: number) => eventText(`{"a":[${numbers.join(",")}],"b":"${"x".repeat(rest)}"}`);
    const rest = DOCUMENT_BYTES - 216 * 303 + 1 - 15;
    expect((await fixture.single(exact(rest))).status).toBe(202);
    await fixture.refuses(() => fixture.single(exact(rest + 1)), 400, tooLarge("properties"));
  });

  it("of bodies are limited, to more than any valid one needs", async () => {
    for (const [path, bytes] of [
      ["/v1/events", 512 * 1024],
      ["/v1/events/batch", 96 * 1024 * 1024],
    ] as const) {
      const connection = openConnection(fixture.service.url);
      const headers = { Host: "svc", Authorization: `Bearer ${fixture.keys.test}`, "Content-Type": "application/json" };
      const more = { "Content-Length": bytes + 1, Expect: "100-continue" };
      connection.write(headOf(`POST ${path} HTTP/1.1`, { ...headers, ...more }));
      const error = { code: "PAYLOAD_TOO_LARGE", reason: `At most ${bytes} bytes are read.` };
      expect(await connection.closed).toMatchObject([{ status: 413, body: { error } }]);
    }
  });
});

const at = (timestamp: string) => ({ customerId: "c", event: "e", timestamp });

/** An offset so that no number is negative when SQL decomposes it. */
const MS_FROM_YEAR_1_TO_1970 = 62_135_596_800_000;

/** Cases that the property below does not generate: the ends of months, years and offsets. */
it("a timestamp at an edge of the calendar is stored as the instant that it names", async () => {
  const instants = [
    ["2026-03-02T10:00:00-00:00", "2026-03-02 10:00:00.000000"],
    ["2026-03-02T10:00:00+14:00", "2026-03-01 20:00:00.000000"],
    ["2026-03-02T10:00:00-15:59", "2026-03-03 01:59:00.000000"],
    ["2024-02-29T23:59:59Z", "2024-02-29 23:59:59.000000"],
    ["2000-02-29T00:00:00Z", "2000-02-29 00:00:00.000000"],
    ["1970-01-01T00:00:00Z", "1970-01-01 00:00:00.000000"],
    ["1600-07-04T00:00:00Z", "1600-07-04 00:00:00.000000"],
    ["0001-01-01T00:00:00Z", "0001-01-01 00:00:00.000000"],
    ["0001-01-01T01:00:00+01:00", "0001-01-01 00:00:00.000000"],
    ["9999-12-31T23:59:59.999Z", "9999-12-31 23:59:59.999000"],
    ["9999-12-31T23:59:59.999999Z", "9999-12-31 23:59:59.999999"],
    ["9999-12-31T22:59:59-01:00", "9999-12-31 23:59:59.000000"],
  ];
  const ids = eventIds(await fixture.batch(instants.map(([timestamp]) => at(timestamp!))));
  const rows = await sql<{ occurred: string }[]>`
    select to_char(e.occurred_at at time zone 'UTC', 'YYYY-MM-DD HH24:MI:SS.US') as occurred
    from svc_inspect.events as e join unnest(${ids}::text[]) with ordinality as i (id, n) on i.id = e.event_id order by i.n`;
  expect(instants.map(([timestamp], n) => [timestamp, rows[n]!.occurred])).toEqual(instants);
});

it("any timestamp is stored as the instant that src/ingestion reads, as the local engine does", async () => {
  const any = soundInstant.map((text) => JSON.parse(text) as string);
  // Halves of a microsecond are rounded to even.
  const half = fc
    .tuple(any, fc.nat(999_999))
    .map(([text, n]) => text.replace(/(:\d\d)(\.\d+)?(?=Z|[+-]|$)/i, `$1.${String(n).padStart(6, "0")}5`));
  const withoutSeconds = any.map((text) => text.replace(/:\d\d(\.\d+)?(?=Z|[+-])/i, ""));
  const withHoursOnly = any.map((text) => text.replace(/([+-]\d\d):?\d\d$/, "$1"));
  const timestamp = fc.oneof(any, half, withoutSeconds, withHoursOnly);
  await fc.assert(
    fc.asyncProperty(fc.uniqueArray(timestamp, { minLength: 50, maxLength: 50 }), async (timestamps) => {
      const reply = await fixture.batch(timestamps.map((each) => ({ ...at(each), event: each })));
      expect(reply.status).toBe(202);
      const rows = await sql<{ event: string; milliseconds: number; microseconds: number }[]>`
        select event, floor(us / 1000)::float8 as milliseconds, mod(us, 1000)::integer as microseconds
        from (
          select event, (extract(epoch from occurred_at) * 1000 + ${MS_FROM_YEAR_1_TO_1970}) * 1000 as us
          from svc.events where svc.event_id(event_seq) = any (${eventIds(reply)})
        ) as v`;
      expect(rows).toHaveLength(50);
      const kept = rows.map(({ event, milliseconds, microseconds }) => ({
        event,
        milliseconds: milliseconds - MS_FROM_YEAR_1_TO_1970,
        microseconds,
      }));
      const read = rows.map(({ event }) => ({ event, ...parseTimestamp(event) }));
      expect(kept).toEqual(read);
    }),
    { numRuns: propertyRuns(5), endOnFailure: true }, // a smaller batch would not show more
  );
});

/** Invalid timestamps, by what is wrong with them. */
const WRONG_TIMESTAMPS: [reason: string, ...texts: string[]][] = [
  ["The timestamp has no timezone.", "2026-03-02T10:00", "2026-03-02 10:00:00"],
  [
    "The timestamp is not an ISO 8601 date-time with timezone.",
    ...["2026-03-02 10:00:00Z", " 2026-03-02T10:00:00Z ", "2026-03-02T10:00:00Z\n", "2026-03-02Z", "now", "infinity"],
    ...["Mon, 02 Mar 2026 10:00:00 +0000", "2026-03-02T10:00:00 Europe/Zurich"],
    ...["+12026-03-02T10:00:00Z", "-0001-03-02T10:00:00Z", "2026-03-02T10:00:00,5Z"],
    ...["2026-03-02T10:00:00.Z", "2026-03-02T10:00:00.0000000001Z", "２０２６-03-02T10:00:00Z"],
  ],
  [
    "The timestamp is in a form of ISO 8601 that is not accepted; write it as 2026-03-02T10:00:00Z.",
    ...["20260302T100000Z", "20260302T1000Z", "20260302T100000.5+0100", "2026-W10-1T10:00:00Z", "2026-061T10:00:00Z"],
  ],
  [
    "The date does not exist.",
    ...["2026-13-02T10:00:00Z", "2026-00-02T10:00:00Z", "2026-03-00T10:00:00Z", "2026-04-31T10:00:00Z"],
    ...["2026-02-29T10:00:00Z", "1900-02-29T10:00:00Z"],
  ],
  [
    "The time of day does not exist: hours end at 23, minutes and seconds at 59.",
    ...["2026-03-02T24:00:00Z", "2026-03-02T10:60:00Z", "2016-12-31T23:59:60Z"],
  ],
  ["The timezone offset does not exist.", "2026-03-02T10:00:00+16:00", "2026-03-02T10:00:00+01:60"],
  [
    "The instant is outside the years 1 to 9999 (UTC).",
    ...["0001-01-01T00:59:59+01:00", "9999-12-31T23:00:00-01:00", "9999-12-31T23:59:59.9999999Z"],
  ],
  ["There is no year 0000.", "0000-03-02T10:00:00Z", "0000-12-31T23:00:00-02:00"],
];

it.each(WRONG_TIMESTAMPS)("a timestamp is invalid: %s", (reason, ...texts) => {
  expect(texts.map((text) => [text, timestampProblem(text)])).toEqual(texts.map((text) => [text, reason]));
});

it("an event is late after five minutes, in the database as in the engine, and so is its call", async () => {
  const [row] = await sql`select extract(epoch from svc.punctual())::integer * 1000 as punctual`;
  expect(row).toEqual({ punctual: PUNCTUAL_MILLISECONDS });
  const lateAfter = async (...seconds: number[]) => {
    const events = seconds.map((past) => at(new Date(Date.now() - past * 1000).toISOString()));
    const ids = eventIds(await fixture.batch(events));
    return [
      ...(await sql`
        select b.late as call, array_agg(i.late order by i.seq) as events
        from svc.inbox as i
        join svc.ingest_batches as b on b.environment_id = i.environment_id and b.batch_seq = i.seq >> 10
        where svc.event_id(i.seq) in ${sql(ids)}
        group by b.late`),
    ];
  };
  expect(await lateAfter(0, 240)).toEqual([{ call: false, events: [false, false] }]);
  expect(await lateAfter(0, 360)).toEqual([{ call: true, events: [false, true] }]);
});

it("identifies wait behind what happens now if their call has late events, or many identifies and nothing else", async () => {
  const event = (past: number) => at(new Date(Date.now() - past * 1000).toISOString());
  const identifies = (count: number, name: string) =>
    Array.from({ length: count }, (_, n) => ({
      type: "identify",
      customerId: `${name} ${n}`,
      traits: { plan: "pro" },
    }));
  const lateAmong = async (name: string, operations: object[]) => {
    expect((await fixture.batch(operations)).status).toBe(202);
    const rows = await sql<[{ late: boolean }]>`
      select distinct late from svc.inbox where starts_with(customer_id, ${`${name} `}) order by late`;
    return rows.map(({ late }) => late);
  };
  expect(await lateAmong("with a late event", [...identifies(1, "with a late event"), event(360)])).toEqual([true]);
  expect(await lateAmong("a table", identifies(100, "a table"))).toEqual([true]);
  expect(await lateAmong("with a live event", [...identifies(100, "with a live event"), event(0)])).toEqual([false]);
  expect(await lateAmong("few", identifies(99, "few"))).toEqual([false]);
});
