import { expect, it, test } from "vitest";

import { eventUses, traitUses } from "../../../src/cli/commands/ai/event-uses.js";
import { type Condition, EMPTY_SNAPSHOT, type Snapshot } from "../../../src/model/snapshot/types.js";
import { guideModel } from "./plan.js";

const of = { event: "order", where: { kind: "compare", property: "kind", operator: "eq", value: "a" } } as const;
const measured = { of, property: "amount", operator: "gte", value: 1 } as const;

/** The event uses of a segment with this condition. */
function usesOf(when: Condition) {
  const snapshot: Snapshot = {
    ...EMPTY_SNAPSHOT,
    events: { order: { properties: {} }, visit: { properties: {} } },
    traits: { plan: { type: "string" }, renewsOn: { type: "date" } },
    segments: [{ id: "s", when }],
  };
  const events = [...eventUses(snapshot)].flatMap(([event, uses]) =>
    uses.map(({ part, id, properties }) => [event, part, id, ...properties].join(" ")),
  );
  const traits = [...traitUses(snapshot)].flatMap(([trait, uses]) =>
    uses.map(({ part, id }) => `${trait} ${part} ${id}`),
  );
  return [...events, ...traits];
}

const TREES: [string, Condition, string[]][] = [
  ["count", { kind: "count", of, operator: "gte", value: 1 }, ["order segment s kind"]],
  ["aggregate", { kind: "aggregate", function: "sum", ...measured }, ["order segment s amount kind"]],
  ["distinct", { kind: "distinct", ...measured }, ["order segment s amount kind"]],
  ["latest", { kind: "latest", ...measured }, ["order segment s amount kind"]],
  ["latestExists", { kind: "latestExists", of, property: "amount" }, ["order segment s amount kind"]],
  ["daysSince", { kind: "daysSince", which: "first", of, operator: "gt", value: 3 }, ["order segment s kind"]],
  [
    "sequence",
    { kind: "sequence", first: { event: "visit" }, then: of, within: "1d" },
    ["order segment s kind", "visit segment s"],
  ],
  ["trait", { kind: "trait", trait: "plan", operator: "eq", value: "a" }, ["plan segment s"]],
  ["traitExists", { kind: "traitExists", trait: "plan" }, ["plan segment s"]],
  ["traitDateWithin", { kind: "traitDateWithin", trait: "renewsOn", within: "7d" }, ["renewsOn segment s"]],
  ["traitDatePassed", { kind: "traitDatePassed", trait: "renewsOn" }, ["renewsOn segment s"]],
  ["inactiveFor", { kind: "inactiveFor", duration: "7d" }, []],
  ["activeWithin", { kind: "activeWithin", duration: "7d" }, []],
  ["lifecycle", { kind: "lifecycle", states: ["a"] }, []],
  ["inState", { kind: "inState", atLeast: "7d" }, []],
  ["segment", { kind: "segment", segment: "t" }, []],
  ["journey", { kind: "journey", journey: "j", statuses: ["active"] }, []],
  ["journeyStep", { kind: "journeyStep", journey: "j", step: "k", is: "current" }, []],
  ["health", { kind: "health", operator: "lt", value: 40 }, []],
  ["healthBand", { kind: "healthBand", bands: ["critical"] }, []],
];

test.each(TREES)("finds what %s reads, alone, negated and combined with others", (_, condition, expected) => {
  expect(usesOf(condition)).toEqual(expected);
  expect(usesOf({ kind: "not", condition })).toEqual(expected);
  const others: Condition = { kind: "any", conditions: [{ kind: "inState", atLeast: "1d" }, condition] };
  expect(usesOf({ kind: "all", conditions: [others, { kind: "not", condition: others }] })).toEqual(expected);
});

it("searches filters completely, and ignores undeclared events", () => {
  const kind = (property: string) => ({ kind: "exists", property }) as const;
  const where = {
    kind: "all",
    conditions: [
      { kind: "any", conditions: [kind("c"), kind("a")] },
      { kind: "not", condition: kind("b") },
    ],
  } as const;
  const count = (event: string) =>
    ({ kind: "count", of: { event, where: structuredClone(where) as never }, operator: "eq", value: 0 }) as const;
  expect(usesOf(count("visit"))).toEqual(["visit segment s a b c"]);
  expect(usesOf(count("constructor"))).toEqual([]);
});

it("finds every place of the guide's model that reads an event or a trait", async () => {
  const snapshot = await guideModel();
  const events = [...eventUses(snapshot)].map(([event, uses]) => [
    event,
    uses.map(({ part, id, properties }) => `${part} ${id}: ${properties.join()}`),
  ]);
  expect(Object.fromEntries(events)).toEqual({
    signed_up: ["journey onboarding, start: ", "journey conversion, start: ", "segment fast_starters: "],
    login: ["health engagement: "],
    project_created: [
      "lifecycle new → activated: ",
      "lifecycle trial → activated: ",
      "journey onboarding, create_project: ",
      "journey conversion, try: ",
      "segment power_users: seats",
      "segment fast_starters: ",
      "health adoption: ",
    ],
    member_invited: ["journey onboarding, invite_team: "],
    invoice_paid: ["journey conversion, pay: ", "segment big_spenders: amount", "rule upsell: "],
    ticket_opened: ["rule severe: severity"],
  });
  const traits = [...traitUses(snapshot)].map(([trait, uses]) => [trait, uses.map(({ part, id }) => `${part} ${id}`)]);
  expect(Object.fromEntries(traits)).toEqual({
    company: ["rule plan_changed", "display name"],
    plan: ["lifecycle new → trial", "segment power_users", "health commercial", "rule plan_changed", "display show"],
    seats: ["rule plan_changed", "display show"],
    renewsOn: ["rule plan_changed", "signal renewal_at_risk", "display renewal"],
  });
});
