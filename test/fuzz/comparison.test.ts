import type { Sql } from "postgres";
import { describe, expect, it, test } from "vitest";
import type { Body } from "../../fuzz/bodies.js";
import { Documented } from "../../fuzz/documented.js";
import { exactJson, withoutNotation, written } from "../../fuzz/exact.js";
import { Part } from "../../fuzz/part.js";
import { Stored } from "../../fuzz/stored.js";

// Shows with made-up answers that the fuzz run can detect each kind of defect.

test.each([
  ["12345678901234567890", "12345678901234567890"],
  ["0.1000", "0.1000"],
  ["1.205e2", "120.5"],
  ["-0.0", "0.0"],
  ["-0", "0"],
  ["1E+2", "100"],
  ["-1.50e-3", "-0.00150"],
  ["5e-324", `0.${"0".repeat(323)}5`],
])("the number %s is kept as %s", (sent, kept) => {
  expect(written(sent)).toBe(kept);
});

it("exact values distinguish numbers that doubles do not", () => {
  expect(exactJson('{"b":9007199254740993,"a":"1"}')).toEqual(exactJson('{"a":"\\u0031", "b":9007199254740993}'));
  expect(exactJson("9007199254740993")).not.toEqual(exactJson("9007199254740992"));
  expect(exactJson('{"a":1}')).not.toEqual(exactJson('{"a":"1"}'));
  expect(exactJson('{"a":1,"a":2}')).toEqual(exactJson('{"a":2}'));
  expect(exactJson("1.50")).not.toEqual(exactJson("1.5"));
  expect(withoutNotation(exactJson('[1.50,100,"1.50"]'))).toEqual(withoutNotation(exactJson('[1.5,100.0,"1.50"]')));
});

const EVENT = '{"customerId":"c","event":"e","properties":{"n":1.50},"timestamp":"2026-03-02T10:00:00.1234565Z"}';
const IDENTIFY = '{"type":"identify","customerId":"c","traits":{"n":1}}';
const row = (other: object = {}) => ({
  ...{ seq: "1024", isEvent: true, customerId: "c", event: "e", payload: '{"n": 1.50}', idempotencyKey: null },
  ...{ occurredAt: "1772445600123457", acceptedAt: "1772445601000000", ...other },
});
const traits = (payload = '{"n": 1}') => row({ seq: "1025", isEvent: false, event: null, payload, occurredAt: null });

/** The findings if an event and an identify operation were accepted, and these rows are stored. */
async function findings(...rows: object[]): Promise<string> {
  const part = new Part("ingestion", 1);
  const text = Buffer.from(`{"events":[${EVENT},${IDENTIFY}]}`);
  const body: Body = { path: "/v1/events/batch", headers: {}, bytes: text, text, isSound: true };
  const answer = '{"accepted":2,"rejected":0,"eventIds":["evt_0000000000000400"]}';
  const sql = (() => Promise.resolve(rows)) as unknown as Sql;
  await new Stored(sql, 1, part).compare([{ body, answer }]);
  expect(part.findings).toBe(part.lost + part.altered + part.doubled);
  return `${part.lost} ${part.altered} ${part.doubled}`;
}

describe("stored rows compared with accepted operations: lost, altered, doubled", () => {
  it.each([
    ["the same", [row(), traits()], "0 0 0"],
    ["rounded the other way", [row({ occurredAt: "1772445600123456" }), traits()], "0 0 0"],
    ["no event", [traits()], "1 0 0"],
    ["no traits", [row()], "1 0 0"],
    ["a number in another notation", [row({ payload: '{"n": 1.5}' }), traits()], "0 1 0"],
    ["another number", [row({ payload: '{"n": 1.51}' }), traits()], "0 1 0"],
    ["another customer", [row({ customerId: "C" }), traits()], "0 1 0"],
    ["another instant", [row({ occurredAt: "1772445600123000" }), traits()], "0 1 0"],
    ["other traits", [row(), traits('{"n": "1"}')], "0 1 0"],
    ["an additional event", [row(), row({ seq: "2048" }), traits()], "0 0 1"],
    ["the traits twice", [row(), traits(), { ...traits(), seq: "1026" }], "0 0 1"],
  ])("%s", async (_, rows, counts) => {
    expect(await findings(...rows)).toBe(counts);
  });
});

describe("an answer compared with the documentation", () => {
  const responses = { 202: { description: "" }, 400: { description: "Not valid: `VALIDATION_ERROR`.", content: {} } };
  const documented = new Documented({ paths: { "/x": { post: { security: [], responses } } }, components: {} });
  const error = (code: string) => JSON.stringify({ error: { code, message: "No.", requestId: "req_1" } });
  it.each([
    [202, "{}", null],
    [400, error("VALIDATION_ERROR"), null],
    [400, error("MALFORMED_JSON"), /a code that is not documented/],
    [400, "Bad Request", /not an error as documented/],
    [404, error("NOT_FOUND"), /a status that is not documented/],
    [500, error("INTERNAL_ERROR"), /^answered 500/],
    [null, "", /^no answer/],
  ])("%s %s", (status, text, fault) => {
    const result = documented.fault(documented.operation("POST", "/x"), { status, text });
    if (fault === null) expect(result).toBeNull();
    else expect(result).toMatch(fault);
  });
});
