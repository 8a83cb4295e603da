import { runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { readAnswer, type Answer } from "../../src/client/answer.js";
import { identifyEntry, trackEntry } from "../../src/client/entry.js";
import { InvalidOperationError } from "../../src/client/errors.js";
import { EntryQueue } from "../../src/client/queue.js";
import { isTemporary, pauseMs, retryAfterMs } from "../../src/client/backoff.js";

// The client's rules, one at a time, without a network.

describe("pauses", () => {
  const backoff = { firstMs: 1_000, longestMs: 60_000 };
  it.each([
    [0, null, 1, 1_000],
    [3, null, 0.5, 4_000],
    [3, null, 0, 0],
    [10, null, 1, 60_000],
    [2_000, null, 1, 60_000],
    [0, 7_000, 0, 7_000],
    [9, 7_000, 0.5, 7_500],
    [1, 0, 1, 2_000],
  ])("after try %i, Retry-After %s ms, random %d: %i ms", (tries, retryAfter, random, expected) => {
    expect(pauseMs(tries, retryAfter, backoff, random)).toBe(expected);
  });

  it("Retry-After is in seconds or a date", () => {
    const now = Date.parse("2026-03-02T10:00:00Z");
    expect(retryAfterMs("120", now)).toBe(120_000);
    expect(retryAfterMs("1.5", now)).toBe(1_500);
    expect(retryAfterMs("Mon, 02 Mar 2026 10:00:30 GMT", now)).toBe(30_000);
    expect(retryAfterMs("Mon, 02 Mar 2026 09:00:00 GMT", now)).toBe(0);
    for (const header of ["", "soon", undefined, null, ["1", "2"]]) expect(retryAfterMs(header, now)).toBeNull();
  });

  it("temporary failures are 408, 429 and 5xx", () => {
    const all = Array.from({ length: 400 }, (_, index) => index + 200);
    expect(all.filter(isTemporary)).toEqual([408, 429, ...Array.from({ length: 100 }, (_, index) => index + 500)]);
  });
});

describe("an operation is accepted and copied", () => {
  const parsed = (entry: { json: string }) => JSON.parse(entry.json) as Record<string, unknown>;

  it("with a new key and the current instant, unless they are given", () => {
    const before = Date.now();
    const entry = parsed(trackEntry({ customerId: "c", event: "e" }));
    expect(entry).toEqual({
      type: "track",
      customerId: "c",
      event: "e",
      timestamp: expect.any(String) as string,
      idempotencyKey: expect.stringMatching(/^[0-9a-f-]{36}$/) as string,
    });
    const instant = Date.parse(entry["timestamp"] as string);
    expect(instant).toBeGreaterThanOrEqual(before);
    expect(instant).toBeLessThanOrEqual(Date.now());
    const given = { type: "track", customerId: "c", event: "e", timestamp: "2026-03-02T10:00:00+01:00" };
    expect(parsed(trackEntry({ ...given, idempotencyKey: "k" }))).toEqual({ ...given, idempotencyKey: "k" });
    const date = new Date("2026-03-02T10:00:00.5Z");
    expect(parsed(trackEntry({ ...given, timestamp: date }))["timestamp"]).toBe("2026-03-02T10:00:00.500Z");
  });

  it("without an instant if only a key is given, because the same event of another run would conflict", () => {
    const given = { customerId: "c", event: "e", idempotencyKey: "order-1" };
    expect(trackEntry(given)).toEqual(trackEntry(given));
    expect(parsed(trackEntry(given))).toEqual({ type: "track", ...given });
  });

  it("as JSON.stringify writes it", () => {
    class Money {
      constructor(readonly amount: number) {}
      toJSON() {
        return { amount: this.amount };
      }
    }
    const shared = { a: 1 };
    const traits = {
      text: 'é "quoted" \u2028 🎉',
      numbers: [0, -0, 0.1, 1e21, 5e-324],
      none: null,
      left: undefined,
      at: new Date(0),
      money: new Money(5),
      twice: [shared, shared],
      "two words": true,
      empty: {},
      list: [],
      // As in Jest, which runs tests in a realm of their own.
      foreign: runInNewContext("({ empty: {}, list: [] })") as object,
    };
    const { json, bytes } = identifyEntry({ customerId: "ü", traits });
    expect(json).toBe(JSON.stringify({ type: "identify", customerId: "ü", traits }));
    expect(bytes).toBe(Buffer.byteLength(json));
  });

  const circle: { list: unknown[] } = { list: [] };
  circle.list.push(1, circle);
  const throwing = {
    get lazy(): never {
      throw new Error("not loaded");
    },
  };
  const deep = (levels: number): object => (levels === 1 ? {} : { a: deep(levels - 1) });
  let wide: object = {};
  for (let level = 0; level < 60; level++) wide = { a: wide, b: wide };
  const track = (more: object) => ({ customerId: "c", event: "e", ...more });
  it.each<[string, unknown, RegExp]>([
    ["no object", "login", /^the operation must be an object, not a string$/],
    ["no customer", { event: "e" }, /^customerId must be a string, not undefined$/],
    ["an empty customer", track({ customerId: "" }), /^customerId must have 1 to 256 characters$/],
    ["a long event", track({ event: "é".repeat(257) }), /^event must have 1 to 256 characters$/],
    ["a number as key", track({ idempotencyKey: 5 }), /^idempotencyKey must be a string, not a number$/],
    ["an unknown field", track({ propertys: {} }), /^propertys is not a field of a track operation; they are type, /],
    ["another type", track({ type: "identify" }), /^type must be "track" or left out$/],
    ["properties in a list", track({ properties: [] }), /^properties must be an object, not an array$/],
    ["NaN", track({ properties: { lines: [{ amount: NaN }] } }), /^properties\.lines\[0\]\.amount is NaN, which JSON/],
    ["a BigInt", track({ properties: { "a b": 5n } }), /^properties\["a b"\] is a bigint, which JSON does not have$/],
    ["a function", track({ properties: { f: () => 1 } }), /^properties\.f is a function/],
    ["nothing in a list", track({ properties: { l: [undefined] } }), /^properties\.l\[0\] is undefined/],
    ["a Map", track({ properties: { m: new Map() } }), /^properties\.m is a Map, which JSON does not have$/],
    [
      "a Set with a member",
      track({ properties: { s: Object.assign(new Set([1]), { a: 1 }) } }),
      /^properties\.s is a Set/,
    ],
    [
      "a response",
      track({ properties: { r: new Response("x") } }),
      /^properties\.r is a Response, which JSON does not/,
    ],
    ["a getter that throws", track({ properties: throwing }), /^properties cannot be read: Error: not loaded$/],
    ["a promise", track({ properties: { p: Promise.resolve(1) } }), /^properties\.p is a Promise, which JSON does not/],
    ["a generator", track({ properties: { g: [1].values() } }), /^properties\.g is an iterable \(make it an array\)/],
    ["an error", track({ properties: { e: new TypeError("x") } }), /^properties\.e is a TypeError, which JSON/],
    ["null as key", track({ idempotencyKey: null }), /^idempotencyKey must be a string, not null$/],
    ["null as timestamp", track({ timestamp: null }), /^timestamp must be a Date, or a text in ISO 8601/],
    ["no date", track({ properties: { at: new Date(NaN) } }), /^properties\.at is an invalid date$/],
    ["a circular reference", track({ properties: circle }), /^properties\.list\[1\] is part of itself$/],
    ["too deep nesting", track({ properties: deep(101) }), /^properties is nested more than 100 levels deep$/],
    ["a too large object", track({ properties: wide }), /^properties is larger than 64 KiB as JSON$/],
    ["a letter too many", track({ properties: { a: "x".repeat(65_529) } }), /^properties is larger than 64 KiB as/],
    ["too many bytes", track({ properties: { a: "é".repeat(40_000) } }), /^properties is larger than 64 KiB as JSON$/],
    ["half a pair", track({ properties: { a: "\ud800" } }), /^properties\.a has the character U\+0000 or half/],
    ["U+0000 in a name", track({ properties: { "\0": 1 } }), /^properties\["\\u0000"\] has the character U\+0000/],
    ["no zone", track({ timestamp: "2026-03-02T10:00:00" }), /^timestamp must be a Date, or a text in ISO 8601/],
    ["a bad date", track({ timestamp: new Date(NaN) }), /^timestamp is an invalid date$/],
  ])("but for %s", (_, given, message) => {
    const attempt = () => trackEntry(given);
    expect(attempt).toThrow(InvalidOperationError);
    expect(attempt).toThrow(TypeError);
    expect(attempt).toThrow(message);
  });

  it("up to the limits", () => {
    expect(() => trackEntry(track({ properties: deep(100), event: "🎉".repeat(256) }))).not.toThrow();
    expect(() => trackEntry(track({ properties: { a: "x".repeat(65_536 - 8) } }))).not.toThrow();
  });
});

describe("a batch", () => {
  const entry = (bytes: number) => ({ type: "track" as const, json: "x".repeat(bytes), bytes });

  it("keeps the order when it is put back, and the sum when some are removed", () => {
    const line = new EntryQueue();
    for (let bytes = 1; bytes <= 100; bytes++) line.push(entry(bytes), null);
    const removed = line.take({ operations: 60, bytes: 1e6 });
    line.push(entry(101), null);
    line.putBack(removed.slice(30));
    expect(line.all().map(({ bytes }) => bytes)).toEqual(Array.from({ length: 71 }, (_, index) => index + 31));
    line.remove(({ bytes }) => bytes > 33);
    expect([31 + 32 + 33, 31 + 32 + 34].map((bytes) => line.fills({ operations: 1_000, bytes }))).toEqual([
      true,
      false,
    ]);
    expect(line.last).toBe(101);
  });
});

describe("an answer", () => {
  const answer = (status: number, body: unknown, retryAfter: string | null = null): Answer => ({
    status,
    text: typeof body === "string" ? body : JSON.stringify(body),
    retryAfter,
    location: null,
  });
  const error = (code: string, more: object = {}) => ({ error: { code, message: "No.", requestId: "r", ...more } });
  const read = (given: Answer) => readAnswer(given, 3, 2, 0);
  const accepted = { accepted: 3, rejected: 0, eventIds: ["a", "b"] };

  it("is an acceptance only if it accounts for the whole batch", () => {
    expect(read(answer(202, accepted))).toEqual({ kind: "accepted", eventIds: ["a", "b"] });
    const others = [{ ...accepted, accepted: 2 }, { ...accepted, rejected: 1 }, { ...accepted, eventIds: ["a"] }, {}];
    for (const body of [...others, { ...accepted, eventIds: [1, 2] }, "", "<html>", "null", "[]"])
      expect(read(answer(202, body))).toMatchObject({ kind: "again", error: { code: "UNEXPECTED_ANSWER" } });
  });

  it("that is a temporary failure leads to a retry after Retry-After", () => {
    expect(read(answer(503, error("SERVICE_UNAVAILABLE"), "7"))).toMatchObject({
      kind: "again",
      waitMs: 7_000,
      error: { code: "SERVICE_UNAVAILABLE", status: 503 },
    });
    for (const status of [408, 429, 500, 502, 599]) expect(read(answer(status, "")).kind).toBe("again");
    const quota = answer(429, error("MONTHLY_QUOTA_EXCEEDED"), "864000");
    expect(read(quota)).toMatchObject({ kind: "stop", waitMs: 864_000_000, error: { code: "MONTHLY_QUOTA_EXCEEDED" } });
    for (const [status, body] of [
      [503, error("SERVICE_UNAVAILABLE")],
      [503, "<html>"],
      [429, "<html>"],
    ] as const)
      expect(read(answer(status, body, "864000")), "of an outage").toMatchObject({ kind: "again", waitMs: 600_000 });
  });

  it("is reported without the operation's position in the batch", () => {
    const detail = { field: "events[1].timestamp", message: "`events[1].timestamp` is not a valid timestamp." };
    const refused = read(answer(400, error("VALIDATION_ERROR", detail)));
    expect(refused.kind === "refused" && refused.errors.get(1)).toMatchObject({
      field: "timestamp",
      message: "timestamp: `timestamp` is not a valid timestamp.",
    });
  });

  it("refuses an operation only if the service names it", () => {
    const diagnostics = [
      { code: "UNKNOWN_PROPERTY", message: "One.", path: "events[0].properties.a" },
      { code: "INVALID_PROPERTY_TYPE", message: "Two.", path: "events[2].properties.b" },
      { code: "UNKNOWN_EVENT", message: "Three.", path: "events[2].event" },
    ];
    const refused = read(
      answer(422, error("UNKNOWN_PROPERTY", { field: "events[0].properties.a", fix: "F.", diagnostics })),
    );
    if (refused.kind !== "refused") throw new Error(refused.kind);
    expect([...refused.errors.keys()]).toEqual([0, 2]);
    expect(refused.errors.get(0)).toMatchObject({
      code: "UNKNOWN_PROPERTY",
      status: 422,
      field: "properties.a",
      fix: "F.",
      requestId: "r",
      message: "properties.a: No.",
      diagnostics: [{ ...diagnostics[0], path: "properties.a" }],
    });
    expect(refused.errors.get(2)).toMatchObject({
      code: "INVALID_PROPERTY_TYPE",
      field: "properties.b",
      message: "properties.b: Two.",
      fix: null,
      diagnostics: [{ path: "properties.b" }, { path: "event" }],
    });
    const named = read(answer(400, error("VALIDATION_ERROR", { field: "events[1]" })));
    expect(named).toMatchObject({ kind: "refused" });
    for (const field of [undefined, "events", "events[3].event"])
      expect(read(answer(400, error("VALIDATION_ERROR", { field })))).toMatchObject({
        kind: "divide",
        isTooLarge: false,
      });
    const odd = error("SOME_CODE", { field: 7, diagnostics: [null, 5, { path: 7 }] });
    expect(read(answer(422, odd))).toMatchObject({ kind: "divide", error: { code: "SOME_CODE", field: null } });
    expect(read(answer(413, "<html>"))).toMatchObject({ kind: "divide", isTooLarge: true });
  });

  it("of a gateway is an outage, also with a code or a redirect", () => {
    const [again, gateway] = [
      { kind: "again", error: { code: "UNEXPECTED_ANSWER" } },
      { error: { code: "BadRequest", message: "No." } },
    ];
    for (const status of [400, 401, 403, 404, 409, 422]) expect(read(answer(status, gateway))).toMatchObject(again);
    const message =
      "the answer is not from the service (301): it redirects to https://svc.example.com/; if that is the service, correct url";
    const moved = { ...answer(301, "<html>"), location: "https://svc.example.com/" };
    expect(read(moved)).toMatchObject({ kind: "again", error: { message } });
  });

  it("stops the client only if it is the service's error envelope", () => {
    for (const status of [401, 402, 403, 404, 405, 415, 431]) {
      expect(read(answer(status, error("SOME_CODE")))).toMatchObject({ kind: "stop", waitMs: 600_000 });
      expect(read(answer(status, "<html>"))).toMatchObject({ kind: "again", error: { code: "UNEXPECTED_ANSWER" } });
    }
    for (const status of [200, 204, 302, 400, 409, 422]) expect(read(answer(status, "{}")).kind).toBe("again");
  });
});
