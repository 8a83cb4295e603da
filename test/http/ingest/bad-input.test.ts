import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { eventText, expectRefusal, startIngest, type IngestFixture } from "./fixture.js";

let fixture: IngestFixture;
beforeAll(async () => {
  fixture = await startIngest();
});
afterAll(() => fixture.service.stop());

const deep = (levels: number, inner = "") => `${"[".repeat(levels)}${inner}${"]".repeat(levels)}`;
const NUL = "The character U+0000 cannot be stored in text.";
const HALF = "The escape is half of a surrogate pair without the other half.";
const RANGE = "The number is outside the range of a double (about 5e-324 to 1.8e308).";

describe("values that JSON allows and the database cannot keep are refused:", () => {
  const long = "9".repeat(280);
  it.each([
    ["U+0000", '{"a":"x\\u0000y"}', "\\u0000", NUL],
    ["U+0000 in a key", '{"\\u0000":1}', "\\u0000", NUL, "properties"],
    ["a second half after what only looks like a first", '{"a":"\\\\ud83d\\ude00"}', "\\ude00", HALF],
    ["U+0000 after an escaped backslash", '{"a":"\\\\\\u0000"}', "\\u0000", NUL],
    ["a first half of a pair", '{"a":"\\ud83d"}', "\\ud83d", HALF],
    ["a first half before another character", '{"a":"\\uD83Dx"}', "\\uD83D", HALF],
    ["a first half before an escape", '{"a":"\\ud83d\\n"}', "\\ud83d", HALF],
    ["two first halves", '{"a":"\\ud83d\\ud83d\\ude00"}', "\\ud83d", HALF],
    ["a second half", '{"a":"\\ude00"}', "\\ude00", HALF],
    ["a second half in a key", '{"\\udfff":{}}', "\\udfff", HALF, "properties"],
    ["halves in the wrong order", '{"a":"\\ude00\\ud83d"}', "\\ude00", HALF],
    ["1e400", '{"a":1e400}', "1e400", RANGE],
    ["-1E+400", '{"a":[-1E+400]}', "-1E+400", RANGE, "properties.a[0]"],
    ["1e-400", '{"a":1e-400}', "1e-400", RANGE],
    ["an exponent with zeros before it", '{"a":1e0000400}', "1e0000400", RANGE],
    ["an exponent beyond an integer", '{"a":1e99999999999}', "1e99999999999", RANGE],
    ["a zero with many places", '{"a":0e-16383}', "0e-16383", RANGE],
    ["a zero with a large exponent", '{"a":-0.0E99999999999}', "-0.0E99999999999", RANGE],
    ["many digits and two of exponent", `{"a":${long}e50}`, long.slice(0, 40), RANGE],
    ["310 digits", `{"a":${"9".repeat(310)}}`, "9".repeat(40), RANGE],
    ["400 zeros after the point", `{"a":0.${"0".repeat(400)}1}`, `0.${"0".repeat(38)}`, RANGE],
    ["54 KB of 1e131071", `{"a":[${Array(5400).fill("1e131071").join(",")}]}`, "1e131071", RANGE, "properties.a[0]"],
    ["a bad value that a later key hides", '{"a":"\\u0000","a":1}', "\\u0000", NUL, null],
  ] as [string, string, string, string, (string | null)?][])(
    "%s",
    async (_, properties, value, reason, place = "properties.a") => {
      const message = "The body holds a value that cannot be stored.";
      const more = (prefix: string) => ({
        ...(place === null ? {} : { field: prefix + place }),
        value,
        reason,
        fix: "Remove or change the value.",
      });
      const single = eventText(properties);
      const batch = `{"events":[{"customerId":"c","event":"e"},${single}]}`;
      await expectRefusal(fixture, () => fixture.single(single), 400, "VALIDATION_ERROR", message, more(""));
      const inBatch = more("events[1].");
      await expectRefusal(
        fixture,
        () => fixture.post("/v1/events/batch", batch),
        400,
        "VALIDATION_ERROR",
        message,
        inBatch,
      );
    },
  );

  it.each(["customerId", "event", "idempotencyKey"])("U+0000 and half a pair in %s", async (field) => {
    for (const text of ["\\u0000", "a\\udc00"]) {
      const body = JSON.stringify({ customerId: "c", event: "e", [field]: "@" }).replace("@", text);
      const reply = await fixture.single(body);
      expect(reply.status).toBe(400);
      expect(reply.body).toMatchObject({ error: { code: "VALIDATION_ERROR", field, value: text.slice(-6) } });
    }
  });

  it("a number that stands behind a long text of escapes", async () => {
    // In a member that a later one hides, so that no limit of a field ends the search before.
    const hidden = `"${'\\n\\\\\\"'.repeat(4_000_000)}"`;
    const batch = (literal: string) => `{"events":[${hidden},${literal}],"events":[{"customerId":"c","event":"e"}]}`;
    for (const [literal, reason] of [
      ["1e400", RANGE],
      ["\\u0000", NUL],
      ["\\ude00", HALF],
    ] as const) {
      await expectRefusal(
        fixture,
        () => fixture.post("/v1/events/batch", batch(literal.startsWith("1") ? literal : `"${literal}"`)),
        400,
        "VALIDATION_ERROR",
        "The body holds a value that cannot be stored.",
        { value: literal, reason, fix: "Remove or change the value." },
      );
    }
    const pairs = `"${"\\ud83d\\ude00".repeat(2_000_000)}"`;
    expect((await fixture.post("/v1/events/batch", batch(pairs))).status).toBe(202);
  });

  it.each([
    ["a fraction of 16,384 places", `0.${"1".repeat(16_384)}`],
    ["a fraction of 16,384 zeros", `-1.${"0".repeat(16_384)}`],
    ["places by the exponent", `1.${"0".repeat(16_380)}e-4`],
  ])("%s, which are more than the database keeps", async (_, literal) => {
    await expectRefusal(
      fixture,
      () => fixture.single(eventText(`{"a":${literal}}`)),
      400,
      "VALIDATION_ERROR",
      "The body holds a value that cannot be stored.",
      {
        field: "properties.a",
        value: literal.slice(0, 40),
        reason: "The number has more than 16,383 digits after the point.",
        fix: "Remove or change the value.",
      },
    );
  });
});

describe("nesting", () => {
  it("is taken to a depth of 100, and read back", async () => {
    const properties = `{"a":${deep(99, "1")}}`;
    const reply = await fixture.single(eventText(properties));
    expect(reply.status).toBe(202);
    const { eventId } = reply.body as { eventId: string };
    const [row] = await fixture.service.db.sql`
      select properties::text as text from svc_inspect.events where event_id = ${eventId}`;
    expect((row as { text: string }).text.replaceAll(" ", "")).toBe(properties);
  });

  it.each([100, 5_000])("past it is refused: %i levels of lists below properties", async (levels) => {
    await expectRefusal(
      fixture,
      () => fixture.single(eventText(`{"a":${deep(levels)}}`)),
      400,
      "VALIDATION_ERROR",
      "`properties` is nested too deeply.",
      { field: "properties", reason: "At most 100 levels are allowed.", fix: "Flatten the value." },
    );
  });

  it("past it is refused in objects and in traits", async () => {
    const traits = `${'{"a":'.repeat(101)}1${"}".repeat(101)}`;
    await expectRefusal(
      fixture,
      () => fixture.post("/v1/events/batch", `{"events":[{"type":"identify","customerId":"c","traits":${traits}}]}`),
      400,
      "VALIDATION_ERROR",
      "`events[0].traits` is nested too deeply.",
      { field: "events[0].traits", reason: "At most 100 levels are allowed.", fix: "Flatten the value." },
    );
  });

  it.each([
    ["the body", deep(250_000)],
    ["customerId", `{"customerId":${deep(250_000)},"event":"e"}`],
    ["timestamp", `{"customerId":"c","event":"e","timestamp":${deep(250_000)}}`],
    ["type", `{"customerId":"c","event":"e","type":${deep(250_000)}}`],
    ["an unknown member", `{"customerId":"c","event":"e","x":${deep(250_000)}}`],
    ["a member that a later one hides", `{"customerId":"c","properties":${deep(250_000)},"event":"e","properties":{}}`],
    ["half a document", "[".repeat(500_000)],
  ])("of %s is a clear refusal", async (_, body) => {
    for (const request of [
      () => fixture.single(body),
      () => fixture.post("/v1/events/batch", `{"events":[${body}]}`),
    ]) {
      const before = await fixture.stored();
      const reply = await request();
      expect(reply.status).toBe(400);
      expect(reply.body).toMatchObject({
        error: { code: expect.stringMatching(/^(VALIDATION_ERROR|MALFORMED_JSON)$/) as unknown },
      });
      expect(await fixture.stored()).toEqual(before);
    }
  });
});

describe("what is accepted reads back exactly from svc.events:", () => {
  it.each([
    ["an integer beyond 2^53", "12345678901234567890"],
    ["zeros at the end of a fraction", "0.1000"],
    ["more digits than a double has", "3.14159265358979323846264338327950288"],
    ["a negative fraction", "-0.00"],
    ["a fraction of 16,383 places", `0.${"1".repeat(16_383)}`],
    ["the largest double", "1797693134862315" + "0".repeat(293)],
    ["the first code point after U+0000", '"\\u0001"'],
    ["a pair of surrogates", '"😀"'],
    ["the highest code point", '"\u{10ffff}"'],
    ["noncharacters", '"\uffff\ufffe"'],
    ["a byte order mark", '"\ufeff"'],
    ["combining characters, not normalized", '"e\u0301 \u00e9"'],
    ["text from right to left", '"\u202eabc"'],
    ["line separators", '"\u2028\u2029"'],
    ["an escaped backslash before a half of a pair", '"\\\\ud83d \\\\\\\\ude00"'],
    ["an escaped backslash before u0000", '"\\\\u0000"'],
    ["numbers and escapes inside of a text", '"1e400 \\\\ud83d [[["'],
    ["SQL and quotes", '"\'; drop table svc.events; -- \\""'],
    ["empty containers", '[{}, [], ""]'],
    ["every literal", "[true, false, null, 0, -1]"],
    ["the word null as a key", '{"null": null}'],
    ["an empty key", '{"": 1}'],
    ["__proto__ as a key", '{"__proto__": {"polluted": true}}'],
    ["constructor as a key", '{"constructor": {"prototype": {"polluted": true}}}'],
  ])("%s", async (_, value) => {
    const body = eventText(`{"a":${value}}`);
    for (const reply of [await fixture.single(body), await fixture.post("/v1/events/batch", `{"events":[${body}]}`)]) {
      expect(reply.status).toBe(202);
      const { eventId, eventIds = [eventId] } = reply.body as { eventId?: string; eventIds?: string[] };
      const [row] = await fixture.service.db.sql<[{ text: string }]>`
        select properties::text as text from svc.events where svc.event_id(event_seq) = ${eventIds[0] ?? ""}`;
      // jsonb has no negative zero.
      expect(row.text).toBe(`{"a": ${value === "-0.00" ? "0.00" : value}}`);
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("exponents, written out", async () => {
    const reply = await fixture.single(eventText('{"a":[1e3,1.50E-2,1e22,5e-324,1.7976931348623157e308]}'));
    const { eventId } = reply.body as { eventId: string };
    const [row] = await fixture.service.db.sql<[{ a: number[]; equal: boolean }]>`
      select properties -> 'a' as a,
        properties -> 'a' = '[1000, 0.015, 10000000000000000000000, 5e-324, 1.7976931348623157e308]' as equal
      from svc_inspect.events where event_id = ${eventId}`;
    expect({ ...row }).toEqual({ a: [1000, 0.015, 1e22, 5e-324, Number.MAX_VALUE], equal: true });
  });

  it("of a key that is there twice, the last value, as JavaScript reads it", async () => {
    const body =
      '{"customerId":"x","customerId":"c","event":"x","properties":{"a":1},"properties":{"a":[1],"b":1,"a":{"c":1,"c":2}},"event":"e"}';
    const reply = await fixture.single(body);
    const { eventId } = reply.body as { eventId: string };
    const [row] = await fixture.service.db.sql`
      select customer_id, event, properties from svc_inspect.events where event_id = ${eventId}`;
    const read = JSON.parse(body) as { customerId: string; event: string; properties: unknown };
    expect({ ...row }).toEqual({ customer_id: read.customerId, event: read.event, properties: read.properties });
    expect(read.properties).toEqual({ a: { c: 2 }, b: 1 });
  });

  it("of events that are there twice in a batch, the last", async () => {
    const before = await fixture.stored();
    const events = (count: number) => JSON.stringify(Array(count).fill({ customerId: "c", event: "e" }));
    const reply = await fixture.post("/v1/events/batch", `{"events":${events(3)},"events":${events(2)}}`);
    expect(reply.body).toMatchObject({ accepted: 2 });
    expect((await fixture.stored()).events - before.events).toBe(2);
  });

  it("ids with characters of every plane and of SQL", async () => {
    const ids = ["😀", "a'b\"c\\d", "\u0001", "\u{10ffff}", "%_", " ", "null", "--", "\u00e9", "e\u0301"];
    for (const id of ids) {
      const reply = await fixture.single({ customerId: id, event: id, idempotencyKey: id });
      const { eventId } = reply.body as { eventId: string };
      const [row] = await fixture.service.db.sql`
        select customer_id, event from svc_inspect.events where event_id = ${eventId}`;
      expect({ ...row }).toEqual({ customer_id: id, event: id });
    }
  });
});

it("traits are kept exactly, explicit nulls included", async () => {
  const traits = '{"big": 12345678901234567890, "gone": null, "exact": 0.1000}';
  expect(
    (await fixture.post("/v1/events/batch", `{"events":[{"type":"identify","customerId":"exact","traits":${traits}}]}`))
      .status,
  ).toBe(202);
  const rows = await fixture.service.db
    .sql`select traits::text as text from svc.trait_updates where customer_id = 'exact'`;
  expect(rows.map(({ text }) => text as string)).toEqual([
    '{"big": 12345678901234567890, "gone": null, "exact": 0.1000}',
  ]);
});

it.each([
  ["millions of empty objects", `{"events":[${"{},".repeat(5_000_000)}{}]}`, 413, "PAYLOAD_TOO_LARGE"],
  ["a hundred thousand brackets", `{"events":${"[".repeat(100_000)}`, 400, "MALFORMED_JSON"],
])("a body of %s is refused before it is parsed", async (_, body, status, code) => {
  const reply = await fixture.post("/v1/events/batch", body);
  expect({ status: reply.status, body: reply.body }).toMatchObject({ status, body: { error: { code } } });
});

it("a body of 64 MiB of escapes keeps nobody waiting for long", async () => {
  const text = "\\u00e9\\ud83d\\ude00".repeat(3_000);
  const body = `{"events":[${Array(1000)
    .fill(eventText(`{"a":"${text}"}`))
    .join(",")}]}`;
  expect((await fixture.post("/v1/events/batch", body)).status).toBe(202);
});
