import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { capturedLog } from "../../support/captured-log.js";
import { required, violation } from "../../spec/support/refusals.js";
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

const more = {
  reason: "The active schema is strict and does not declare it.",
  fix: "Declare the property in the model and deploy it, or do not send it.",
};

/** What test/spec does not ask: properties of an order beside its amount, then path, code, message, value, and what else is said. */
const VIOLATIONS: [properties: object, path: string, code: string, message: string, more: Partial<Refusal>][] = [
  [
    { __proto__x: 1 },
    "__proto__x",
    "UNKNOWN_PROPERTY",
    'The event "order" has no property "__proto__x".',
    { value: 1, ...more },
  ],
  [
    { address: { city: "Bonn" } },
    "address",
    "UNKNOWN_PROPERTY",
    'The event "order" has no property "address".',
    { value: { city: "Bonn" }, ...more },
  ],
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

  it.each([100, 1000])(
    "lists thousands of diagnostics and stops there: %i of each of 1,000 operations",
    async (members) => {
      const properties = Object.fromEntries(Array.from({ length: members }, (_, n) => [`p${n}`, n]));
      const reply = await fixture.batch(Array(1000).fill(order({ amount: 1, ...properties })));
      expect(reply.status).toBe(422);
      const { error } = reply.body as { error: { code: string; diagnostics: unknown[] } };
      expect(error.code).toBe("UNKNOWN_PROPERTY");
      expect(error.diagnostics.length).toBeGreaterThanOrEqual(5_000);
      expect(error.diagnostics.length).toBeLessThanOrEqual(15_000);
    },
  );

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
