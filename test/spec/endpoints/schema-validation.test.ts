import { beforeAll, describe, expect, it } from "vitest";
import { EVENT_ID } from "../../http/ingest/fixture.js";
import type { Field, Snapshot } from "../../../src/model/snapshot/types.js";
import { capturedLog } from "../../support/captured-log.js";
import { expectBatchTaken, expectTaken, type Refusal } from "../support/answers.js";
import { useSpec } from "../support/fixture.js";
import { violation } from "../support/refusals.js";

// Section "Schema validation (applies to both ingestion endpoints)".

const { log, lines } = capturedLog();

const fixture = useSpec({ log });

const optional = (field: Field): Field => ({ ...field, optional: true });
const MODEL: Partial<Snapshot> = {
  events: {
    order: {
      properties: {
        amount: { type: "number" },
        note: optional({ type: "string" }),
        gift: optional({ type: "boolean" }),
        due: optional({ type: "date" }),
        tags: optional({ type: "array", items: { type: "string" } }),
        currency: optional({ type: "string", enum: ["EUR", "USD"] }),
      },
    },
  },
  traits: {
    plan: { type: "string", enum: ["free", "pro"] },
    seats: { type: "number" },
    vip: { type: "boolean" },
    renewsOn: { type: "date" },
    roles: { type: "array", items: { type: "string" } },
  },
};

const order = (properties: object = {}) => ({
  customerId: "c",
  event: "order",
  properties: { amount: 1, ...properties },
});
const identify = (traits: object) => ({ type: "identify", customerId: "c", traits });

const UNDECLARED = "The active schema is strict and does not declare it.";
const DATE = "an ISO 8601 date, or date-time with a zone";
const plural = (noun: "property" | "trait") => (noun === "property" ? "properties" : "traits");
const pathOf = (noun: "property" | "trait", name: string) => `${plural(noun)}.${name}`;
const typed = (noun: "property" | "trait", name: string, value: unknown, type: string, reason: string): Violation => [
  pathOf(noun, name),
  noun === "property" ? "INVALID_PROPERTY_TYPE" : "INVALID_TRAIT_TYPE",
  `The value of the ${noun} "${name}" must be ${type}.`,
  {
    ...(value === null ? {} : { value }),
    reason,
    fix:
      value === null
        ? `Send ${type}, or leave the property out once it is optional in the model.`
        : `Send ${type}, or change the type in the model and deploy it.`,
  },
];
/** An object, although no declared type is one. */
const structured = (noun: "property" | "trait", name: string, value: object): Violation => [
  pathOf(noun, name),
  "INVALID_STRUCTURE",
  `The value of the ${noun} "${name}" is an object, which no declared type is.`,
  {
    value,
    reason: "It is an object.",
    fix: `Send its members as ${plural(noun)} of their own, each declared.`,
  },
];
/** An object or an array as an item of an array. */
const structuredItem = (name: string, position: number, value: object, kind: string): Violation => [
  `properties.${name}[${position}]`,
  "INVALID_STRUCTURE",
  `Item ${position} of the property "${name}" is ${kind}, which no item may be.`,
  { value, reason: `It is ${kind}.`, fix: "Send a flat array." },
];

type Violation = [path: string, code: string, message: string, more: Partial<Refusal>];

/** Each check of the section, an operation that fails only this check, and the expected violation. */
const EVENT_CHECKS: [check: string, operation: object, ...Violation][] = [
  [
    "declared event names",
    { customerId: "c", event: "ordered" },
    "event",
    "UNKNOWN_EVENT",
    'The event "ordered" is not declared by the active configuration.',
    {
      value: "ordered",
      reason: "The active schema is strict and declares no event of this name.",
      fix: "Declare the event in the model and deploy it, or correct its name.",
    },
  ],
  [
    "required properties",
    { customerId: "c", event: "order" },
    "properties.amount",
    "MISSING_REQUIRED_PROPERTY",
    'The event "order" requires the property "amount".',
    { reason: "It is not there.", fix: "Send the property, or declare it optional in the model and deploy it." },
  ],
  [
    "unknown properties",
    order({ colour: "red" }),
    "properties.colour",
    "UNKNOWN_PROPERTY",
    'The event "order" has no property "colour".',
    { value: "red", reason: UNDECLARED, fix: "Declare the property in the model and deploy it, or do not send it." },
  ],
  ["type string", order({ note: 5 }), ...typed("property", "note", 5, "a text", "It is a number.")],
  ["type number", order({ amount: "1" }), ...typed("property", "amount", "1", "a number", "It is a text.")],
  ["type number, null", order({ amount: null }), ...typed("property", "amount", null, "a number", "It is null.")],
  ["type boolean", order({ gift: "yes" }), ...typed("property", "gift", "yes", "true or false", "It is a text.")],
  ["type date", order({ due: "2026-02-30" }), ...typed("property", "due", "2026-02-30", DATE, "It is another text.")],
  ["type array", order({ tags: "a" }), ...typed("property", "tags", "a", "an array", "It is a text.")],
  [
    "type array, of an item",
    order({ tags: ["a", 2] }),
    "properties.tags[1]",
    "INVALID_PROPERTY_TYPE",
    'Item 1 of the property "tags" must be a text.',
    { value: 2, reason: "It is a number.", fix: "Send a text, or change the type in the model and deploy it." },
  ],
  ["structure, an object", order({ note: { text: "a" } }), ...structured("property", "note", { text: "a" })],
  ["structure, an object in an array", order({ tags: ["a", {}] }), ...structuredItem("tags", 1, {}, "an object")],
  ["structure, an array in an array", order({ tags: [["a"]] }), ...structuredItem("tags", 0, ["a"], "an array")],
  [
    "enum values",
    order({ currency: "eur" }),
    "properties.currency",
    "INVALID_PROPERTY_ENUM",
    'The value of the property "currency" must be one of the declared ones.',
    {
      value: "eur",
      reason: 'Declared are "EUR", "USD".',
      fix: "Send one of them, or add the value in the model and deploy it.",
    },
  ],
];

const TRAIT_CHECKS: typeof EVENT_CHECKS = [
  [
    "identify traits: unknown",
    identify({ colour: "red" }),
    "traits.colour",
    "UNKNOWN_TRAIT",
    'The active configuration declares no trait "colour".',
    { value: "red", reason: UNDECLARED, fix: "Declare the trait in the model and deploy it, or do not send it." },
  ],
  ["identify traits: number", identify({ seats: "5" }), ...typed("trait", "seats", "5", "a number", "It is a text.")],
  [
    "identify traits: date",
    identify({ renewsOn: true }),
    ...typed("trait", "renewsOn", true, DATE, "It is true or false."),
  ],
  ["identify traits: structure", identify({ plan: { id: "pro" } }), ...structured("trait", "plan", { id: "pro" })],
  [
    "identify traits: enum values",
    identify({ plan: "gold" }),
    "traits.plan",
    "INVALID_TRAIT_ENUM",
    'The value of the trait "plan" must be one of the declared ones.',
    {
      value: "gold",
      reason: 'Declared are "free", "pro".',
      fix: "Send one of them, or add the value in the model and deploy it.",
    },
  ],
];

it("The active configuration defines event properties and customer traits: undeclared data is accepted before one is deployed", async () => {
  expectTaken(await fixture.single({ customerId: "c", event: "anything", properties: { at: ["all"] } }));
});

describe("With `strictSchema: true`, a violation returns HTTP 422. | 422 | a schema diagnostic code such as `INVALID_PROPERTY_ENUM` | payload violates a strict active schema; `diagnostics` entries use `INVALID_STRUCTURE` or other codes |", () => {
  beforeAll(() => fixture.deploy({ ...MODEL, strictSchema: true }));

  it("conforming properties and traits of every type are accepted", async () => {
    const dates = ["2028-02-29", "2026-03-02T10:00:00+01:00"].map((due) => ({ due }));
    const texts = [{ note: "a" }, { currency: "USD" }, { tags: ["a", "b"] }, { tags: [] }];
    const events = [{}, ...dates, ...texts, { amount: -0.5 }, { gift: false }].map(order);
    expectBatchTaken(await fixture.batch(events), events.length);
    for (const event of events) expectTaken(await fixture.single(event));
    const traits = { plan: "pro", seats: 5, vip: true, renewsOn: "2026-12-31", roles: ["admin"] };
    expectBatchTaken(await fixture.batch([identify(traits), identify({})]), 2, 0);
  });

  it.each([...EVENT_CHECKS, ...TRAIT_CHECKS])("checks %s", async (_check, operation, path, code, message, more) => {
    const batch = () => fixture.batch([order(), operation, identify({ plan: "pro" })]);
    await fixture.refuses(batch, 422, violation(`events[1].${path}`, code, message, more));
    if ("event" in operation) {
      await fixture.refuses(() => fixture.single(operation), 422, violation(path, code, message, more));
    }
  });

  it("`error.code` is the code of the first failure; `diagnostics` lists every failing path", async () => {
    const bad = { amount: "1", gift: 1, currency: "eur", colour: "red" };
    const diagnostic = (index: number, [, , path, code, message]: (typeof EVENT_CHECKS)[number]) => ({
      code,
      message,
      path: `events[${index}].${path}`,
    });
    const check = (name: string) => [...EVENT_CHECKS, ...TRAIT_CHECKS].find(([each]) => each === name)!;
    const first = check("type number");
    const operations = [order(), order(bad), check("declared event names")[1], order({ note: { text: "a" } })];
    await fixture.refuses(() => fixture.batch(operations), 422, {
      ...violation(`events[1].${first[2]}`, first[3], first[4], first[5]),
      diagnostics: [
        diagnostic(1, first),
        diagnostic(1, check("enum values")),
        diagnostic(1, check("type boolean")),
        diagnostic(1, check("unknown properties")),
        diagnostic(2, check("declared event names")),
        diagnostic(3, check("structure, an object")),
      ],
    });
  });
});

describe("With `strictSchema: false`, the operation is accepted and the diagnostics are logged.", () => {
  beforeAll(() => fixture.deploy({ ...MODEL, strictSchema: false }));

  it.each([...EVENT_CHECKS, ...TRAIT_CHECKS])("%s", async (_check, operation, path, code) => {
    const expectLogged = (place: string) => {
      const diagnostics = [{ code, path: place + path }];
      expect(lines.splice(0)).toMatchObject([{ level: 40, requestId: "req", operations: 1, diagnostics }]);
    };
    const isEvent = "event" in operation;
    expectBatchTaken(await fixture.batch([order(), operation]), 2, isEvent ? 2 : 1);
    expectLogged("events[1].");
    if (!isEvent) return;
    const reply = await fixture.single(operation);
    expectTaken(reply);
    expect(await fixture.storedEvent(reply)).toMatchObject(operation);
    expectLogged("");
  });

  it("they can be looked up later: kinds, counts, and an example", async () => {
    const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as unknown;
    const { data } = await fixture.read<{ data: { code: string; path: string }[] }>("schema-violations");
    const seen = { configVersion: "v2", firstSeenAt: timestamp, lastSeenAt: timestamp, lastCustomerId: "c" };
    expect(data.filter(({ code }) => code === "UNKNOWN_EVENT" || code === "INVALID_TRAIT_ENUM")).toEqual([
      { ...seen, event: null, code: "INVALID_TRAIT_ENUM", path: "traits.plan", operations: 1, lastEventId: null },
      { ...seen, event: "ordered", code: "UNKNOWN_EVENT", path: "event", operations: 2, lastEventId: EVENT_ID },
    ]);
  });
});
