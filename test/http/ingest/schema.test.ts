import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { Snapshot } from "../../../src/model/snapshot/types.js";
import { capturedLog } from "../../support/captured-log.js";
import { expectRefusal, startIngest, taken, type IngestFixture } from "./fixture.js";

const { log, lines } = capturedLog();

let fixture: IngestFixture;
beforeAll(async () => {
  fixture = await startIngest({ log });
});
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

const UNDECLARED = "The active schema is strict and does not declare it.";
const MEMBERS = "Send its members as properties of their own, each declared.";
const sendOrChange = (type: string) => `Send ${type}, or change the type in the model and deploy it.`;

/** What test/spec does not ask: operation, code, message, path in the operation, value (where it is shown), reason and fix. */
const VIOLATIONS: [operation: object, code: string, message: string, path: string, more: Record<string, unknown>][] = [
  [
    order({ amount: 1, __proto__x: 1 }),
    "UNKNOWN_PROPERTY",
    'The event "order" has no property "__proto__x".',
    "properties.__proto__x",
    { value: 1, reason: UNDECLARED, fix: "Declare the property in the model and deploy it, or do not send it." },
  ],
  [
    order({ amount: [1] }),
    "INVALID_PROPERTY_TYPE",
    'The value of the property "amount" must be a number.',
    "properties.amount",
    { value: [1], reason: "It is an array.", fix: sendOrChange("a number") },
  ],
  [
    order({ amount: 1, tags: { 0: "a" } }),
    "INVALID_STRUCTURE",
    'The value of the property "tags" is an object, which no declared type is.',
    "properties.tags",
    { value: { 0: "a" }, reason: "It is an object.", fix: MEMBERS },
  ],
  [
    order({ amount: 1, tags: ["a", "b", []] }),
    "INVALID_STRUCTURE",
    'Item 2 of the property "tags" is an array, which no item may be.',
    "properties.tags[2]",
    { value: [], reason: "It is an array.", fix: "Send a flat array." },
  ],
  [
    order({ amount: 1, address: { city: "Bonn" } }),
    "UNKNOWN_PROPERTY",
    'The event "order" has no property "address".',
    "properties.address",
    {
      value: { city: "Bonn" },
      reason: UNDECLARED,
      fix: "Declare the property in the model and deploy it, or do not send it.",
    },
  ],
];

const TRAIT_VIOLATIONS: typeof VIOLATIONS = [
  [
    identify({ colour: null }),
    "UNKNOWN_TRAIT",
    'The active configuration declares no trait "colour".',
    "traits.colour",
    { reason: UNDECLARED, fix: "Declare the trait in the model and deploy it, or do not send it." },
  ],
];

describe("before a configuration is deployed", () => {
  it("any event and any trait is taken", async () => {
    expect((await fixture.single(order({ anything: [1, { at: "all" }] }))).body).toEqual(taken());
    expect((await fixture.batch([identify({ anything: {} }), { customerId: "c", event: "any" }])).status).toBe(202);
  });
});

describe("with a strict schema", () => {
  beforeAll(() => fixture.deploy(MODEL));

  it("operations that conform are taken", async () => {
    const whole = { amount: 0.5, currency: "EUR", tags: ["a", "b"], due: "2028-02-29", gift: false };
    for (const operation of [order({ amount: 1 }), order(whole), { customerId: "c", event: "login" }]) {
      expect((await fixture.single(operation)).body).toEqual(taken());
    }
    const traits = [identify({}), identify({ plan: "pro", seats: null }), identify({ plan: null })];
    expect((await fixture.batch([...traits, order(whole)])).body).toMatchObject({ accepted: 4 });
  });

  it.each(VIOLATIONS)("refuses the single event %j with %s", async (operation, code, message, path, more) => {
    await expectRefusal(fixture, () => fixture.single(operation), 422, code, message, {
      field: path,
      ...more,
      diagnostics: [{ code, message, path }],
    });
  });

  it.each([...VIOLATIONS, ...TRAIT_VIOLATIONS])(
    "refuses a whole batch that holds %j with %s",
    async (operation, code, message, path, more) => {
      const at = `events[2].${path}`;
      await expectRefusal(
        fixture,
        () => fixture.batch([order({ amount: 1 }), identify({ plan: "pro" }), operation, order({ amount: 1 })]),
        422,
        code,
        message,
        { field: at, ...more, diagnostics: [{ code, message, path: at }] },
      );
    },
  );

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

  it("takes what violates it and logs the diagnostics without values", async () => {
    expect((await fixture.single(order({ amount: "secret" }))).body).toEqual(taken());
    expect((await fixture.batch([order({ amount: 1 }), identify({ seats: "secret", x: 1 })])).status).toBe(202);
    expect(lines).toMatchObject([
      {
        level: 40,
        requestId: "req",
        operations: 1,
        diagnostics: [{ code: "INVALID_PROPERTY_TYPE", path: "properties.amount" }],
      },
      {
        level: 40,
        requestId: "req",
        operations: 1,
        diagnostics: [
          { code: "INVALID_TRAIT_TYPE", path: "events[1].traits.seats" },
          { code: "UNKNOWN_TRAIT", path: "events[1].traits.x" },
        ],
      },
    ]);
    expect(JSON.stringify(lines)).not.toContain("secret");
  });

  it("still refuses what has the wrong shape", async () => {
    await expectRefusal(
      fixture,
      () => fixture.single({ customerId: "c" }),
      400,
      "VALIDATION_ERROR",
      "`event` is required.",
      {
        field: "event",
        fix: "Add the field.",
      },
    );
  });
});
