import { expect, test } from "vitest";
import { evaluate, type IdentifyOperation, newCustomer } from "../../src/engine/index.js";
import { messageParts } from "../../src/model/snapshot/message.js";
import type { Action, Display } from "../../src/model/snapshot/types.js";
import { at, compile, type Properties, rule, snapshotOf } from "./support/builders.js";

test.each([
  ["{name} has {seats}", [{ placeholder: "name" }, { text: " has " }, { placeholder: "seats" }]],
  ["{{name}}", [{ text: "{" }, { text: "name" }, { text: "}" }]],
  ["{{{a}}}", [{ text: "{" }, { placeholder: "a" }, { text: "}" }]],
  ["{", null],
  ["a}", null],
  ["{a{b}", null],
  ["{}", null],
])("a message %j has the parts %j", (template, parts) => {
  expect(messageParts(template)).toEqual(parts);
});

const traits = {
  company: { type: "string" },
  seats: { type: "number" },
  name: { type: "string" },
  owner: { type: "string" },
  tags: { type: "array", items: { type: "string" } },
} as const;

/** The emission of a rule for a customer with these traits. */
function emitted(message: string | undefined, values: Properties, display?: Display): unknown {
  const then: Action = { kind: "emit", type: "upsell.ready", ...(message === undefined ? {} : { message }) };
  const model = compile({
    ...snapshotOf({ traits, rules: { r: rule({ kind: "traitsChanged" }, then) } }),
    ...(display && { display }),
  });
  const identify: IdentifyOperation = { kind: "identify", seq: 1, traits: values, acceptedAt: at("01-01") };
  const { effects } = evaluate(model, newCustomer("c1", at("01-01")), [identify], { now: at("01-01"), timers: "fire" });
  return effects.find((effect) => effect.kind === "emission" && effect.type === "upsell.ready");
}

test.each<[message: string, values: Properties, display: Display | undefined, expected: string]>([
  [
    "{name} has {seats} of its seats, ask {owner}",
    { company: "Globex", seats: 12, owner: "Ann" },
    { name: "company" },
    "Globex has 12 of its seats, ask Ann",
  ],
  ["{name}/{customerId}", { company: " " }, { name: "company" }, "c1/c1"],
  [
    "{name}, {owner}",
    { company: "Globex", name: "other", owner: "Ann", tags: ["a", "b"] },
    { name: "company", owner: "name" },
    "Globex, other",
  ],
  ["{name}: {tags}", { name: "a trait", tags: ["a", "b"] }, undefined, "a trait: a, b"],
  ["{seats} {owner}", { seats: "twelve" }, undefined, "twelve unknown"],
  ["{{seats}} {{{seats}}}", { seats: 1.5 }, undefined, "{seats} {1.5}"],
])("the message %j for %j, shown by %j, reads: %s", (message, values, display, expected) => {
  expect(emitted(message, values, display)).toMatchObject({
    source: "rule",
    metadata: { rule: "r", message: expected },
  });
});

test("an emission without a message has none", () => {
  expect(emitted(undefined, { seats: 1 })).toMatchObject({ metadata: { rule: "r" } });
});

test("values and the whole message are truncated between characters", () => {
  const text = "😀".repeat(300);
  const { metadata } = emitted("{company}".repeat(20), { company: text }) as { metadata: { message: string } };
  expect(metadata.message.length).toBeLessThanOrEqual(2_000);
  expect(/\p{Surrogate}/u.test(metadata.message)).toBe(false);
});

test("the author's own text is not truncated", () => {
  const text = "x".repeat(1_000);
  expect(emitted(text, { seats: 1 }, undefined)).toMatchObject({ metadata: { message: text } });
});
