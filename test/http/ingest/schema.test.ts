import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { required, violation } from "../../spec/support/refusals.js";
import { capturedLog } from "../../support/captured-log.js";
import type { Refusal } from "./answers.js";
import { batchOf, startIngest, taken } from "./fixture.js";

const { log, lines } = capturedLog();

const fixture = await startIngest({ log });
afterAll(() => fixture.service.stop());

const MODEL: Partial<Snapshot> = {
  strictSchema: true,
  events: {
    order: {
      properties: {
        amount: { type: "number" },
        currency: { type: "string", enum: ["EUR", "USD"], optional: true },
        tags: { type: "array", items: { type: "string" }, optional: true },
        due: { type: "date", optional: true },
        gift: { type: "boolean", optional: true },
      },
    },
    login: { properties: {} },
  },
  traits: { plan: { type: "string", enum: ["free", "pro"] }, seats: { type: "number" } },
};

const order = (properties: Record<string, unknown>) => ({ customerId: "c", event: "order", properties });
const identify = (traits: Record<string, unknown>) => ({ type: "identify", customerId: "c", traits });

type Violation = [properties: object, path: string, code: string, message: string, more: Partial<Refusal>];
const unknown = (name: string, value: unknown): Violation => {
  const reason = "The active schema is strict and does not declare it.";
  const fix = "Declare the property in the model and deploy it, or do not send it.";
  const message = `The event "order" has no property "${name}".`;
  return [{ [name]: value }, name, "UNKNOWN_PROPERTY", message, { value, reason, fix }];
};

/** What test/spec does not ask: properties of an order beside its amount, then path, code, message, and what else is said. */
const VIOLATIONS: Violation[] = [
  unknown("__proto__x", 1),
  unknown("address", { city: "Bonn" }),
  [
    { amount: [1] },
    "amount",
    "INVALID_PROPERTY_TYPE",
    'The value of the property "amount" must be a number.',
    {
      value: [1],
      reason: "It is an array.",
      fix: "Send a number, or change the type in the model and deploy it.",
    },
  ],
  [
    { tags: { 0: "a" } },
    "tags",
    "INVALID_STRUCTURE",
    'The value of the property "tags" is an object, which no declared type is.',
    {
      value: { 0: "a" },
      reason: "It is an object.",
      fix: "Send its members as properties of their own, each declared.",
    },
  ],
  [
    { tags: ["a", "b", []] },
    "tags[2]",
    "INVALID_STRUCTURE",
    'Item 2 of the property "tags" is an array, which no item may be.',
    { value: [], reason: "It is an array.", fix: "Send a flat array." },
  ],
];

it("any trait is taken before a configuration is deployed", async () => {
  expect((await fixture.batch([identify({ anything: {} })])).status).toBe(202);
});

describe("with a strict schema", () => {
  beforeAll(() => fixture.deploy(MODEL));

  it("takes traits that are null, and an event that declares no properties", async () => {
    const operations = [
      identify({ plan: "pro", seats: null }),
      identify({ plan: null }),
      { customerId: "c", event: "login" },
    ];
    expect((await fixture.batch(operations)).body).toMatchObject({ accepted: 3 });
  });

  it.each(VIOLATIONS)("refuses %j", async (properties, name, code, message, rest) => {
    const around = [JSON.stringify(order({ amount: 1 })), JSON.stringify(identify({ plan: "pro" }))];
    const operation = JSON.stringify(order({ amount: 1, ...properties }));
    const path = `properties.${name}`;
    await fixture.refuses(() => fixture.single(operation), 422, violation(path, code, message, rest));
    const batch = () => fixture.post("/v1/events/batch", batchOf(...around, operation, around[0]!));
    await fixture.refuses(batch, 422, violation(`events[2].${path}`, code, message, rest));
  });

  it("refuses a trait that is not declared, though it is null", async () => {
    const reply = await fixture.batch([identify({ colour: null })]);
    expect(reply).toMatchObject({
      status: 422,
      body: { error: { code: "UNKNOWN_TRAIT", field: "events[0].traits.colour" } },
    });
  });

  it("lists every failing path of every operation, in order; the first one is the error", async () => {
    const reply = await fixture.batch([
      order({ amount: 1 }),
      order({ currency: "eur", tags: [1, "a", {}, 2], zzz: 1, aaa: {}, "a b": 3 }),
      { customerId: "c", event: "logout", properties: { x: 1 } },
      identify({ seats: true, plan: "gold" }),
    ]);
    expect(reply.status).toBe(422);
    const { error } = reply.body as {
      error: { code: string; field: string; diagnostics: { code: string; path: string }[] };
    };
    expect([error.code, error.field]).toEqual(["MISSING_REQUIRED_PROPERTY", "events[1].properties.amount"]);
    expect(error.diagnostics.map(({ code, path }) => `${code} ${path}`)).toEqual([
      "MISSING_REQUIRED_PROPERTY events[1].properties.amount",
      "INVALID_PROPERTY_ENUM events[1].properties.currency",
      "INVALID_PROPERTY_TYPE events[1].properties.tags[0]",
      "INVALID_STRUCTURE events[1].properties.tags[2]",
      "INVALID_PROPERTY_TYPE events[1].properties.tags[3]",
      'UNKNOWN_PROPERTY events[1].properties["a b"]',
      "UNKNOWN_PROPERTY events[1].properties.aaa",
      "UNKNOWN_PROPERTY events[1].properties.zzz",
      "UNKNOWN_EVENT events[2].event",
      "INVALID_TRAIT_ENUM events[3].traits.plan",
      "INVALID_TRAIT_TYPE events[3].traits.seats",
    ]);
  });

  it("answers a thousand refused operations with all their diagnostics", async () => {
    const reply = await fixture.batch(Array.from({ length: 1000 }, () => order({ amount: "1", colour: "red" })));
    expect(reply.status).toBe(422);
    expect((reply.body as { error: { diagnostics: unknown[] } }).error.diagnostics).toHaveLength(2000);
  });

  it.each([
    [1000, 100],
    [100, 1000],
  ])("lists thousands of diagnostics and stops there: of %i operations, %i of each", async (operations, members) => {
    const properties = Object.fromEntries(Array.from({ length: members }, (_, n) => [`p${n}`, n]));
    const reply = await fixture.batch(Array(operations).fill(order({ amount: 1, ...properties })));
    expect(reply.status).toBe(422);
    const { error } = reply.body as { error: { code: string; diagnostics: unknown[] } };
    expect(error.code).toBe("UNKNOWN_PROPERTY");
    expect(error.diagnostics.length).toBeGreaterThanOrEqual(5_000);
    expect(error.diagnostics.length).toBeLessThanOrEqual(15_000);
  });

  it("finds the one operation of 1,000 that violates, behind many that only look like it", async () => {
    // The 29th of February is left to the slow path.
    const events = Array.from({ length: 1000 }, (_, n) =>
      order({ amount: 1, due: n === 987 ? "2027-02-29" : "2028-02-29" }),
    );
    const reply = await fixture.batch(events);
    expect(reply.status).toBe(422);
    expect(reply.body).toMatchObject({ error: { field: "events[987].properties.due", diagnostics: [{}] } });
  });

  it("leaves an idempotency key free whose event was refused", async () => {
    const keyed = (amount: unknown) => ({ ...order({ amount }), idempotencyKey: "refused first" });
    expect((await fixture.single(keyed("1"))).status).toBe(422);
    expect((await fixture.batch([keyed("1")])).status).toBe(422);
    expect((await fixture.single(keyed(1))).body).toEqual(taken());
  });

  it("concerns its environment only", async () => {
    const live = { Authorization: `Bearer ${fixture.keys.live}` };
    expect((await fixture.single({ customerId: "c", event: "logout" }, live)).status).toBe(202);
  });
});

describe("with a schema that is not strict", () => {
  beforeAll(() => fixture.deploy({ ...MODEL, strictSchema: false }));
  beforeEach(() => lines.splice(0));

  it("logs what violates it without values", async () => {
    expect((await fixture.single(order({ amount: "secret" }))).body).toEqual(taken());
    expect((await fixture.batch([order({ amount: 1 }), identify({ seats: "secret", x: 1 })])).status).toBe(202);
    expect(lines).toMatchObject([
      { diagnostics: [{ code: "INVALID_PROPERTY_TYPE", path: "properties.amount" }] },
      {
        diagnostics: [
          { code: "INVALID_TRAIT_TYPE", path: "events[1].traits.seats" },
          { code: "UNKNOWN_TRAIT", path: "events[1].traits.x" },
        ],
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain("secret");
  });

  it("still refuses what has the wrong shape", async () => {
    await fixture.refuses(() => fixture.single({ customerId: "c" }), 400, required("event"));
  });
});

describe("of a schema that is not strict are kept, in numbers,", () => {
  let deploys = 0;
  beforeEach(async () => {
    deploys += 1;
    await fixture.deploy({
      strictSchema: false,
      events: {
        login: {
          properties: { seats: { type: "number" }, tags: { type: "array", items: { type: "string" }, optional: true } },
        },
      },
      traits: { plan: { type: "string", enum: ["free", `pro${deploys}`] } },
    });
  });

  interface Kept {
    event: string;
    code: string;
    path: string;
    operations: number;
    last: string;
  }

  /** The rows of the version that is active, with the id of the last operation. */
  const kept = async (): Promise<Kept[]> => {
    const rows = await fixture.service.db.sql<Kept[]>`
    select event, code, path, operations::integer, svc.event_id(last_seq) as last
    from svc.schema_violations
    where version = (select active_version from svc.environments where name = 'test') order by event, code, path`;
    return rows.map((row) => ({ ...row }));
  };

  const login = (properties: unknown, more: object = {}) => ({ customerId: "c", event: "login", properties, ...more });

  it("violations of each kind once, with the number of operations and the last of them", async () => {
    const one = await fixture.single(login({ seats: "many" }));
    const two = await fixture.batch([
      login({ seats: 1 }),
      login({ seats: "few", colour: "red" }),
      login({ seats: 1, tags: ["a", 1, 2] }),
      { customerId: "c", event: "logout" },
      { type: "identify", customerId: "c", traits: { plan: "gold", size: 3 } },
    ]);
    expect([one.status, two.status]).toEqual([202, 202]);
    const ids = (two.body as { eventIds: string[] }).eventIds;
    const traitUpdate = `evt_${(BigInt(`0x${ids[3]!.slice(4)}`) + 1n).toString(16).padStart(16, "0")}`;
    expect(await kept()).toEqual([
      { event: "", code: "INVALID_TRAIT_ENUM", path: "traits.plan", operations: 1, last: traitUpdate },
      { event: "", code: "UNKNOWN_TRAIT", path: "traits.size", operations: 1, last: traitUpdate },
      { event: "login", code: "INVALID_PROPERTY_TYPE", path: "properties.seats", operations: 2, last: ids[1] },
      { event: "login", code: "INVALID_PROPERTY_TYPE", path: "properties.tags[]", operations: 1, last: ids[2] },
      { event: "login", code: "UNKNOWN_PROPERTY", path: "properties.colour", operations: 1, last: ids[1] },
      { event: "logout", code: "UNKNOWN_EVENT", path: "event", operations: 1, last: ids[3] },
    ]);
  });

  it("of operations that are stored: a repetition and a refused request add nothing", async () => {
    const event = login({ seats: "many" }, { idempotencyKey: `key ${deploys}` });
    await fixture.single(event);
    await fixture.single(event);
    await fixture.batch([event, event]);
    expect((await fixture.batch([login({ seats: "x" }), { ...event, event: "other" }])).status).toBe(409);
    expect((await kept()).map(({ operations }) => operations)).toEqual([1]);
  });

  it("of calls that come at once none is lost, and none waits for ever", async () => {
    const wrong = Array.from({ length: 20 }, (_, n) => ({
      customerId: "c",
      event: "login",
      properties: { [`p${n}`]: 1 },
    }));
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, n) => fixture.batch(n % 2 === 0 ? wrong : wrong.toReversed())),
    );
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([202]));
    const rows = await kept();
    expect(rows.filter(({ code }) => code === "UNKNOWN_PROPERTY").map(({ operations }) => operations)).toEqual(
      Array.from({ length: 20 }, () => 12),
    );
  });

  it("up to 1,000 kinds of a version; what comes beyond counts in one row, and known kinds go on counting", async () => {
    const unknown = (from: number, count: number) =>
      Array.from({ length: count }, (_, n) => ({ customerId: "c", event: `unknown ${from + n}` }));
    expect((await fixture.batch(unknown(0, 990))).status).toBe(202);
    expect((await fixture.batch([...unknown(980, 40), login({ seats: "many", colour: 1 })])).status).toBe(202);
    const rows = await kept();
    expect(rows.length).toBe(1_001);
    expect(rows.find(({ path }) => path === "*")).toMatchObject({ event: "", code: "OTHER", operations: 21 });
    expect(rows.find(({ event }) => event === "unknown 985")).toMatchObject({ operations: 2 });
  });

  it("one of each event at least, however many violations a batch has", async () => {
    const noisy = Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`n${n}`, n]));
    const events = Array.from({ length: 500 }, () => login({ seats: 1, ...noisy }));
    expect((await fixture.batch([...events, { customerId: "c", event: "typo" }])).status).toBe(202);
    expect((await kept()).find(({ event }) => event === "typo")).toMatchObject({
      code: "UNKNOWN_EVENT",
      operations: 1,
    });
  });

  it("nothing of a strict schema, which refuses them", async () => {
    await fixture.deploy({ strictSchema: true, events: { login: { properties: { seats: { type: "number" } } } } });
    expect((await fixture.batch([login({ seats: "many" })])).status).toBe(422);
    await fixture.single(login({ seats: "many" }));
    expect(await kept()).toEqual([]);
  });
});
