import { expect, test } from "vitest";

import { eventDiagnostics, jsonbLength, memberPath, traitDiagnostics } from "../../src/model/payload.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../src/model/snapshot/types.js";

const snapshot: Snapshot = {
  ...EMPTY_SNAPSHOT,
  events: {
    order: {
      properties: {
        total: { type: "number" },
        tags: { type: "array", items: { type: "string", enum: ["x"] }, optional: true },
      },
    },
  },
  traits: { plan: { type: "string", enum: ["free", "pro"] } },
};

test("a payload that matches the schema has no violations", () => {
  expect(eventDiagnostics(snapshot, "order", { total: 1, tags: ["x"] })).toEqual([]);
  expect(traitDiagnostics(snapshot, { plan: "pro" })).toEqual([]);
  expect(traitDiagnostics(snapshot, { plan: null })).toEqual([]);
});

test("names that every object inherits are unknown like others", () => {
  expect(eventDiagnostics(snapshot, "toString", {}).map(({ code }) => code)).toEqual(["UNKNOWN_EVENT"]);
  expect(traitDiagnostics(snapshot, { valueOf: 1 }).map(({ code, path }) => [code, path])).toEqual([
    ["UNKNOWN_TRAIT", "traits.valueOf"],
  ]);
});

test("each violation has a code, a path, a reason and a fix", () => {
  expect(eventDiagnostics(snapshot, "order", { tags: ["x", "y", 5], colour: "red" })).toEqual([
    {
      code: "INVALID_PROPERTY_ENUM",
      message: 'Item 1 of the property "tags" must be one of the declared ones.',
      path: "properties.tags[1]",
      value: "y",
      reason: 'Declared are "x".',
      fix: "Send one of them, or add the value in the model and deploy it.",
    },
    {
      code: "INVALID_PROPERTY_TYPE",
      message: 'Item 2 of the property "tags" must be a text.',
      path: "properties.tags[2]",
      value: 5,
      reason: "It is a number.",
      fix: "Send a text, or change the type in the model and deploy it.",
    },
    {
      code: "MISSING_REQUIRED_PROPERTY",
      message: 'The event "order" requires the property "total".',
      path: "properties.total",
      reason: "It is not there.",
      fix: "Send the property, or declare it optional in the model and deploy it.",
    },
    {
      code: "UNKNOWN_PROPERTY",
      message: 'The event "order" has no property "colour".',
      path: "properties.colour",
      value: "red",
      reason: "The active schema is strict and does not declare it.",
      fix: "Declare the property in the model and deploy it, or do not send it.",
    },
  ]);
});

test("a value that no declared type can hold has its own code instead of a type error", () => {
  const structures = (payload: Record<string, unknown>) =>
    eventDiagnostics(snapshot, "order", { total: 1, ...payload }).map(({ code, path }) => `${code} ${path}`);
  expect(structures({ tags: ["x", ["x"], { a: 1 }, null] })).toEqual([
    "INVALID_STRUCTURE properties.tags[1]",
    "INVALID_STRUCTURE properties.tags[2]",
    "INVALID_PROPERTY_TYPE properties.tags[3]",
  ]);
  expect(structures({ tags: {} })).toEqual(["INVALID_STRUCTURE properties.tags"]);
  expect(structures({ tags: "x", total: [1] })).toEqual([
    "INVALID_PROPERTY_TYPE properties.tags",
    "INVALID_PROPERTY_TYPE properties.total",
  ]);
  expect(structures({ other: { a: [] } })).toEqual(["UNKNOWN_PROPERTY properties.other"]);
  expect(traitDiagnostics(snapshot, { plan: { name: "pro" } })).toEqual([
    {
      code: "INVALID_STRUCTURE",
      message: 'The value of the trait "plan" is an object, which no declared type is.',
      path: "traits.plan",
      value: { name: "pro" },
      reason: "It is an object.",
      fix: "Send its members as traits of their own, each declared.",
    },
  ]);
});

test.each([
  [1e21, "1000000000000000000000"],
  [1.5e300, `15${"0".repeat(299)}`],
  [1e-7, "0.0000001"],
  [-1.25e-9, "-0.00000000125"],
  [-0, "0"],
  [0.1, "0.1"],
  ["👍\n", '"👍\\n"'],
  [[1, [], { a: null, b: [true, "x"] }], '[1, [], {"a": null, "b": [true, "x"]}]'],
])("%j is as long as %s", (value, text) => {
  expect(jsonbLength(value)).toBe([...text].length);
});

test("paths quote names that are not plain words, and truncate long ones", () => {
  expect(memberPath("traits", "plan")).toBe("traits.plan");
  expect(memberPath("traits", 'a "b"')).toBe('traits["a \\"b\\""]');
  expect(memberPath("traits", "👍".repeat(300))).toBe(`traits["${"👍".repeat(256)}…"]`);
});
