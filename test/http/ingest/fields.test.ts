import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { expectRefusal, startIngest, taken, type IngestFixture } from "./fixture.js";

// What test/spec does not ask of the fields of operations.

let fixture: IngestFixture;
beforeAll(async () => {
  fixture = await startIngest();
});
afterAll(() => fixture.service.stop());

const TRACK_FIELDS = "Remove it. Known fields: type, customerId, event, properties, timestamp, idempotencyKey.";
/** 256 code points, 512 UTF-16 units, 1,024 bytes. */
const FULL = "😀".repeat(256);

const valid = { customerId: "c", event: "e" };

/** A wrong track operation, the field at fault as it is called in a single event, and what else the envelope says. */
type Case = [name: string, operation: unknown, field: string, message: string, more: Record<string, unknown>];

const empty = (field: string): [string, string, Record<string, unknown>] => [
  field,
  `\`@${field}\` must not be empty.`,
  { value: "", fix: "Send a non-empty string." },
];
const tooLong = (field: string): [string, string, Record<string, unknown>] => [
  field,
  `\`@${field}\` is too long.`,
  { reason: "It has 257 characters; at most 256 are allowed.", fix: "Send a shorter value." },
];
const unknown = (field: string): [string, string, Record<string, unknown>] => [
  field,
  `\`@${field}\` is not a field of a track operation.`,
  { fix: TRACK_FIELDS },
];

const WRONG_TRACKS: Case[] = [
  ["with an empty customerId", { ...valid, customerId: "" }, ...empty("customerId")],
  ["with a customerId of 257 code points", { ...valid, customerId: `${FULL}x` }, ...tooLong("customerId")],
  ["with an empty event", { ...valid, event: "" }, ...empty("event")],
  ["with traits", { ...valid, traits: {} }, ...unknown("traits")],
  ["with an unknown member", { ...valid, colour: "red" }, ...unknown("colour")],
  [
    "with twenty unknown members",
    { ...Object.fromEntries(Array.from({ length: 20 }, (_, n) => [`colour${n}`, n])), ...valid },
    ...unknown("colour0"),
  ],
  ["with a member called constructor", { ...valid, constructor: 1 }, ...unknown("constructor")],
  ["with a member whose name is a path", { ...valid, "a/b~c": 1 }, ...unknown("a/b~c")],
];

const at = (path: string, field: string): string => (path === "" ? field : `${path}.${field}`);

describe("POST /v1/events", () => {
  it.each([
    ["the required fields", { customerId: "c", event: "e" }],
    [
      "every field",
      {
        type: "track",
        customerId: "c",
        event: "e",
        properties: { a: 1 },
        timestamp: "2026-03-02T10:00:00Z",
        idempotencyKey: "every field",
      },
    ],
    ["256 code points in each text", { customerId: FULL, event: FULL, idempotencyKey: FULL }],
    ["white space as an id", { customerId: " ", event: "\t", idempotencyKey: "\n" }],
  ])("takes %s", async (_, body) => {
    const reply = await fixture.single(body);
    expect({ status: reply.status, body: reply.body }).toEqual({ status: 202, body: taken() });
    expect(reply.headers.get("Content-Type")).toBe("application/json; charset=utf-8");
  });

  it.each(WRONG_TRACKS)("refuses an event %s", async (_, body, field, message, more) => {
    await expectRefusal(fixture, () => fixture.single(body), 400, "VALIDATION_ERROR", message.replace("@", ""), {
      field,
      ...more,
    });
  });

  it.each([
    ["a list", []],
    ["null", null],
    ["a text", '"text"'],
    ["a number", "5"],
  ])("refuses %s as the body", async (_, body) => {
    await expectRefusal(
      fixture,
      () => fixture.single(body),
      400,
      "VALIDATION_ERROR",
      "The body must be a JSON object.",
      { value: typeof body === "string" ? JSON.parse(body) : body, fix: "Send an object." },
    );
  });

  it("says where to send a batch", async () => {
    await expectRefusal(
      fixture,
      () => fixture.single({ events: [{ customerId: "c", event: "e" }] }),
      400,
      "VALIDATION_ERROR",
      "`events` is not a field of a track operation.",
      { field: "events", fix: "Send batches to POST /v1/events/batch." },
    );
  });

  it("refuses __proto__ as a member like any other that is unknown", async () => {
    const body = '{"customerId":"c","event":"e","__proto__":{"x":1}}';
    await expectRefusal(
      fixture,
      () => fixture.single(body),
      400,
      "VALIDATION_ERROR",
      "`__proto__` is not a field of a track operation.",
      { field: "__proto__", fix: TRACK_FIELDS },
    );
  });

  it("cuts a very long name of an unknown member", async () => {
    const shown = `${"n".repeat(100)}…`;
    await expectRefusal(
      fixture,
      () => fixture.single({ ...valid, ["n".repeat(100_000)]: 1 }),
      400,
      "VALIDATION_ERROR",
      `\`${shown}\` is not a field of a track operation.`,
      { field: shown, fix: TRACK_FIELDS },
    );
  });

  it("leaves a large wrong value out of the answer", async () => {
    await expectRefusal(
      fixture,
      () => fixture.single({ ...valid, customerId: Array(1000).fill("x") }),
      400,
      "VALIDATION_ERROR",
      "`customerId` must be a string.",
      { field: "customerId", fix: "Send a string." },
    );
  });
});

describe("POST /v1/events/batch", () => {
  it.each([
    ["a track without a type", [valid], 1],
    ["a track with its type", [{ ...valid, type: "track" }], 1],
    ["an identify", [{ type: "identify", customerId: "c", traits: { plan: "pro", gone: null } }], 0],
    ["an identify of no traits", [{ type: "identify", customerId: FULL, traits: {} }], 0],
    ["both, in any order", [{ type: "identify", customerId: "c", traits: { a: 1 } }, valid, valid], 2],
  ])("takes %s", async (_, events, tracks) => {
    const reply = await fixture.batch(events);
    expect({ status: reply.status, body: reply.body }).toEqual({
      status: 202,
      body: {
        accepted: events.length,
        rejected: 0,
        eventIds: Array(tracks).fill(expect.stringMatching(/^evt_[0-9a-f]{16}$/)),
      },
    });
  });

  it.each(WRONG_TRACKS)(
    "refuses a batch whose second operation is an event %s",
    async (_, event, field, message, more) => {
      await expectRefusal(
        fixture,
        () => fixture.batch([valid, event, valid]),
        400,
        "VALIDATION_ERROR",
        message.replace("@", "events[1]."),
        { field: at("events[1]", field), ...more },
      );
    },
  );

  it("refuses an identify with an unknown member", async () => {
    await expectRefusal(
      fixture,
      () => fixture.batch([{ type: "identify", customerId: "c", traits: {}, colour: "red" }]),
      400,
      "VALIDATION_ERROR",
      "`events[0].colour` is not a field of an identify operation.",
      { field: "events[0].colour", fix: "Remove it. Known fields: type, customerId, traits." },
    );
  });

  it.each([
    ["null", null],
    ["a text", "e"],
    ["a list", [valid]],
  ])("refuses %s as an operation", async (_, operation) => {
    await expectRefusal(
      fixture,
      () => fixture.batch([operation]),
      400,
      "VALIDATION_ERROR",
      "`events[0]` must be an object.",
      { field: "events[0]", value: operation, fix: "Send an object." },
    );
  });

  it.each([
    ["an object", "{}", "`events` must be an array.", { field: "events" }],
    ["null as events", '{"events":null}', "`events` must be an array.", { field: "events" }],
    ["an object as events", '{"events":{"0":{}}}', "`events` must be an array.", { field: "events" }],
    ["a list", "[]", "The body must be a JSON object.", {}],
    ["null", "null", "The body must be a JSON object.", {}],
  ])("refuses %s in place of a batch", async (_, body, message, more) => {
    await expectRefusal(fixture, () => fixture.post("/v1/events/batch", body), 400, "VALIDATION_ERROR", message, {
      ...more,
      fix: 'Send {"events": [ … ]}.',
    });
  });

  it.each(["atomic", "__proto__"])("refuses %s beside events", async (field) => {
    await expectRefusal(
      fixture,
      () => fixture.post("/v1/events/batch", `{"events":[{"customerId":"c","event":"e"}],"${field}":true}`),
      400,
      "VALIDATION_ERROR",
      `\`${field}\` is not a field of a batch.`,
      { field, fix: "Remove it." },
    );
  });

  it("takes 1,000 operations, and answers their ids in their order", async () => {
    const events = Array.from({ length: 1000 }, (_, n) =>
      n % 10 === 0 ? { type: "identify", customerId: "order", traits: { n } } : { customerId: "order", event: `n${n}` },
    );
    const reply = await fixture.batch(events);
    expect(reply.status).toBe(202);
    const { accepted, rejected, eventIds } = reply.body as { accepted: number; rejected: number; eventIds: string[] };
    expect({ accepted, rejected, ids: eventIds.length }).toEqual({ accepted: 1000, rejected: 0, ids: 900 });
    expect(eventIds).toEqual([...new Set(eventIds)].sort());
    const rows = await fixture.service.db.sql<{ event: string }[]>`
      select v.event from unnest(${eventIds}::text[]) with ordinality as i (id, n)
      join svc_inspect.events as v on v.event_id = i.id order by i.n`;
    expect(rows.map(({ event }) => event)).toEqual(
      events.flatMap((operation) => ("event" in operation ? [operation.event] : [])),
    );
  });
});

describe("sizes", () => {
  /** `{"a":"…"}` of so many bytes as compact JSON, in characters of three bytes. */
  const document = (bytes: number): Record<string, string> => {
    const wide = Math.floor((bytes - 8) / 3);
    return { a: "€".repeat(wide) + "x".repeat(bytes - 8 - 3 * wide) };
  };
  const LIMIT = 65_536;

  it("takes properties and traits of exactly 64 KiB, counted as compact JSON in UTF-8", async () => {
    const exact = document(LIMIT);
    expect(Buffer.byteLength(JSON.stringify(exact))).toBe(LIMIT);
    expect((await fixture.single({ ...valid, properties: exact })).status).toBe(202);
    // White space and escapes of the sender do not count.
    const spaced = JSON.stringify({ ...valid, properties: exact }, null, 2).replaceAll("€", "\\u20ac");
    expect((await fixture.single(spaced)).status).toBe(202);
    expect((await fixture.batch([{ type: "identify", customerId: "c", traits: exact }])).status).toBe(202);
  });

  it("counts numbers as they are written out", async () => {
    // 1e20 is 21 digits, 1e308 is 309.
    for (const [literal, count] of [
      ["1e20", 4000],
      ["1e308", 250],
      ["-1.5E-300", 250],
      ["0e-300", 250],
      [`0.${"1".repeat(300)}`, 250],
      [`1.${"0".repeat(100)}e-200`, 250],
    ] as const) {
      const list = (length: number) =>
        `{"customerId":"c","event":"e","properties":{"a":[${Array(length).fill(literal).join(",")}]}}`;
      const reply = await fixture.single(list(count));
      expect(reply.status).toBe(400);
      expect(reply.body).toMatchObject({ error: { field: "properties", message: "`properties` is too large." } });
      const inBatch = await fixture.post(
        "/v1/events/batch",
        `{"events":[{"customerId":"c","event":"e"},${list(count)}]}`,
      );
      expect(inBatch.body).toMatchObject({ error: { field: "events[1].properties" } });
      expect((await fixture.single(list(count / 2))).status).toBe(202);
    }
  });

  it("counts every digit of a number", async () => {
    // Each is 302 characters; `{"a":[` and `]}` are eight.
    const exact = (items: number, rest: string) =>
      `{"customerId":"c","event":"e","properties":{"a":[${Array(items)
        .fill(`0.${"1".repeat(300)}`)
        .join(",")}],"b":"${rest}"}}`;
    const used = 217 * 303 - 1 + 8 + 7;
    expect((await fixture.single(exact(216, "x".repeat(LIMIT - used + 303)))).status).toBe(202);
    const reply = await fixture.single(exact(216, "x".repeat(LIMIT - used + 304)));
    expect(reply.body).toMatchObject({
      error: { reason: expect.stringContaining(`It has ${LIMIT + 1} bytes`) as unknown },
    });
  });

  it("refuses a body that no legal single event needs", async () => {
    await expectRefusal(
      fixture,
      () => fixture.single(JSON.stringify(valid) + " ".repeat(524_288)),
      413,
      "PAYLOAD_TOO_LARGE",
      "The body is too large.",
      { reason: "At most 524288 bytes are read.", fix: "Send less, in several requests if need be." },
    );
  });

  it("takes a batch of 1,000 × 64 KiB", async () => {
    const before = await fixture.stored();
    const properties = document(LIMIT);
    const reply = await fixture.batch(Array(1000).fill({ ...valid, properties }));
    expect(reply.status).toBe(202);
    expect(reply.body).toMatchObject({ accepted: 1000 });
    expect((await fixture.stored()).events - before.events).toBe(1000);
  });

  it("refuses a batch that no 1,000 legal operations need", async () => {
    await expectRefusal(
      fixture,
      () => fixture.post("/v1/events/batch", " ".repeat(97 * 1024 * 1024)),
      413,
      "PAYLOAD_TOO_LARGE",
      "The body is too large.",
      { reason: `At most ${96 * 1024 * 1024} bytes are read.`, fix: "Send less, in several requests if need be." },
    );
  });
});
