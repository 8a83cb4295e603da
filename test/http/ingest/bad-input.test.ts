import { describe, expect, it } from "vitest";
import { invalid } from "../../spec/support/refusals.js";
import type { Reply } from "../../support/service.js";
import { eventIds, type Refusal } from "./answers.js";
import { batchOf, EVENT, eventText, useIngest } from "./fixture.js";

const fixture = await useIngest();
const { sql } = fixture.service.db;

const deep = (levels: number, inner = "") => `${"[".repeat(levels)}${inner}${"]".repeat(levels)}`;
const NUL = "The character U+0000 cannot be stored in text.";
const HALF = "The escape is half of a surrogate pair without the other half.";
const unstorable = (value: string, reason: string, more: Partial<Refusal> = {}): Refusal =>
  invalid({
    message: "The body has a value that cannot be stored.",
    value,
    reason,
    fix: "Remove or change the value.",
    ...more,
  });
const tooDeep = (field: string): Refusal =>
  invalid({
    message: `\`${field}\` is nested too deeply.`,
    field,
    reason: "At most 100 levels are allowed.",
    fix: "Flatten the value.",
  });
const RANGE = "The number is outside the range of a double (about 5e-324 to 1.8e308).";

describe("values that JSON allows and the database cannot store are refused:", () => {
  const long = "9".repeat(280);
  it.each([
    ["U+0000", '{"a":"x\\u0000y"}', "\\u0000", NUL],
    ["U+0000 before digits, beside an exponent", '{"a":"\\u000099999","b":1e3}', "\\u0000", NUL],
    ["U+0000 in a key", '{"\\u0000":1}', "\\u0000", NUL, "properties"],
    ["a second half after what only looks like a first", '{"a":"\\\\ud83d\\ude00"}', "\\ude00", HALF],
    ["a first half of a pair", '{"a":"\\ud83d"}', "\\ud83d", HALF],
    ["a first half before an escape", '{"a":"\\ud83d\\n"}', "\\ud83d", HALF],
    ["two first halves", '{"a":"\\ud83d\\ud83d\\ude00"}', "\\ud83d", HALF],
    ["a second half", '{"a":"\\ude00"}', "\\ude00", HALF],
    ["1e400", '{"a":1e400}', "1e400", RANGE],
    ["-1E+400", '{"a":[-1E+400]}', "-1E+400", RANGE, "properties.a[0]"],
    ["an exponent beyond an integer", '{"a":1e99999999999}', "1e99999999999", RANGE],
    ["a zero with many places", '{"a":0e-16383}', "0e-16383", RANGE],
    ["many digits and two of exponent", `{"a":${long}e50}`, long.slice(0, 40), RANGE],
    ["400 zeros after the point", `{"a":0.${"0".repeat(400)}1}`, `0.${"0".repeat(38)}`, RANGE],
    ["54 KB of 1e131071", `{"a":[${Array(5400).fill("1e131071").join(",")}]}`, "1e131071", RANGE, "properties.a[0]"],
    ["a bad value that a later key hides", '{"a":"\\u0000","a":1}', "\\u0000", NUL, null],
  ] as [string, string, string, string, (string | null)?][])(
    "%s",
    async (_, properties, value, reason, place = "properties.a") => {
      await fixture.refusesOperation(eventText(properties), 400, (prefix) =>
        unstorable(value, reason, place === null ? {} : { field: prefix + place }),
      );
    },
  );

  it("U+0000 and a lone surrogate in any text", async () => {
    for (const field of ["customerId", "event", "idempotencyKey"]) {
      for (const text of ["\\u0000", "a\\udc00"]) {
        const body = JSON.stringify({ customerId: "c", event: "e", [field]: "@" }).replace("@", text);
        const error = { code: "VALIDATION_ERROR", field, value: text.slice(-6) };
        expect(await fixture.single(body)).toMatchObject({ status: 400, body: { error } });
      }
    }
  });

  it("a number after a long text of escapes", async () => {
    // In a member that a later one hides, so that no field limit refuses it first.
    const hidden = `"${'\\n\\\\\\"'.repeat(200_000)}"`;
    const send = (value: string) =>
      fixture.post("/v1/events/batch", `{"events":[${hidden},${value}],"events":[${EVENT}]}`);
    await fixture.refuses(() => send("1e400"), 400, unstorable("1e400", RANGE));
    await fixture.refuses(() => send('"\\u0000"'), 400, unstorable("\\u0000", NUL));
    await fixture.refuses(() => send('"\\ude00"'), 400, unstorable("\\ude00", HALF));
    expect((await send(`"${"\\ud83d\\ude00".repeat(100_000)}"`)).status).toBe(202);
  });

  it.each([
    ["a fraction of 16,384 places", `0.${"1".repeat(16_384)}`],
    ["a fraction of 16,384 zeros", `-1.${"0".repeat(16_384)}`],
    ["places by the exponent", `1.${"0".repeat(16_380)}e-4`],
  ])("%s, beyond the precision of the database", async (_, literal) => {
    const reason = "The number has more than 16,383 digits after the point.";
    await fixture.refusesOperation(eventText(`{"a":${literal}}`), 400, (prefix) =>
      unstorable(literal.slice(0, 40), reason, { field: `${prefix}properties.a` }),
    );
  });
});

describe("nesting", () => {
  it("beyond a depth of 100 is refused in lists, in objects and in traits", async () => {
    for (const levels of [100, 5_000])
      await fixture.refusesOperation(eventText(`{"a":${deep(levels)}}`), 400, (prefix) =>
        tooDeep(`${prefix}properties`),
      );
    const traits = `${'{"a":'.repeat(101)}1${"}".repeat(101)}`;
    const body = batchOf(`{"type":"identify","customerId":"c","traits":${traits}}`);
    await fixture.refuses(() => fixture.post("/v1/events/batch", body), 400, tooDeep("events[0].traits"));
  });

  it.each([
    ["the body", deep(250_000)],
    ["customerId", `{"customerId":${deep(9_000)},"event":"e"}`],
    ["timestamp", `{"customerId":"c","event":"e","timestamp":${deep(9_000)}}`],
    ["type", `{"customerId":"c","event":"e","type":${deep(9_000)}}`],
    ["an unknown member", `{"customerId":"c","event":"e","x":${deep(9_000)}}`],
    ["a member that a later one hides", `{"customerId":"c","properties":${deep(250_000)},"event":"e","properties":{}}`],
    ["half a document", "[".repeat(500_000)],
  ])("of %s is refused clearly", async (_, body) => {
    const before = await fixture.stored();
    for (const reply of [await fixture.single(body), await fixture.post("/v1/events/batch", batchOf(body))]) {
      const code = expect.stringMatching(/^(VALIDATION_ERROR|MALFORMED_JSON)$/) as unknown;
      expect(reply).toMatchObject({ status: 400, body: { error: { code } } });
    }
    expect(await fixture.stored()).toEqual(before);
  });
});

/** The text of the one stored event. */
async function readBack(reply: Reply) {
  expect(reply.status).toBe(202);
  const rows = await sql<[{ customer_id: string; event: string; properties: string }]>`
    select customer_id, event, properties::text as properties from svc_inspect.events where event_id = ${eventIds(reply)[0]!}`;
  return { ...rows[0] };
}

// fuzz.test.ts has arbitrary texts and numbers.
describe("accepted values read back exactly from svc.events:", () => {
  it.each([
    ["a hundred levels", deep(99, "1")],
    ["a negative fraction", "-0.00"],
    ["a fraction of 16,383 places", `0.${"1".repeat(16_383)}`],
    ["the largest double", "1797693134862315" + "0".repeat(293)],
    ["numbers and escapes inside of a text", '"1e400 \\\\ud83d [[["'],
    ["__proto__ as a key", '{"__proto__": {"polluted": true}}'],
    ["constructor as a key", '{"constructor": {"prototype": {"polluted": true}}}'],
  ])("%s", async (_, value) => {
    const body = eventText(`{"a":${value}}`);
    for (const reply of [await fixture.single(body), await fixture.post("/v1/events/batch", batchOf(body))]) {
      // jsonb has no negative zero.
      expect((await readBack(reply)).properties).toBe(`{"a": ${value === "-0.00" ? "0.00" : value}}`);
    }
    expect(({} as { polluted?: boolean }).polluted).toBeUndefined();
  });

  it("the last of repeated members, as in JavaScript, and exponents written out", async () => {
    const numbers = '"n":[1e3,1.50E-2,1e22,5e-324,1.7976931348623157e308]';
    const body = `{"customerId":"x","customerId":"c","event":"x","properties":{"a":1},"properties":{"a":[1],"b":1,"a":{"c":1,"c":2},${numbers}},"event":"e"}`;
    const { properties, ...others } = await readBack(await fixture.single(body));
    expect(others).toEqual({ customer_id: "c", event: "e" });
    const n = [1000, 0.015, 1e22, 5e-324, Number.MAX_VALUE];
    expect(JSON.parse(properties)).toEqual({ a: { c: 2 }, b: 1, n });
    expect(properties).toContain("1000, 0.0150, 10000000000000000000000, 0.000");
    const before = await fixture.stored();
    const batch = await fixture.post("/v1/events/batch", `{"events":[${EVENT}],"events":[${EVENT},${EVENT}]}`);
    expect(batch.body).toMatchObject({ accepted: 2 });
    expect((await fixture.stored()).events - before.events).toBe(2);
  });
});

it("a body of millions of empty objects is refused before it is parsed", async () => {
  const reply = await fixture.post("/v1/events/batch", `{"events":[${"{},".repeat(4_000_000)}{}]}`);
  expect(reply).toMatchObject({ status: 413, body: { error: { code: "PAYLOAD_TOO_LARGE" } } });
});
