import { expect, test } from "vitest";

import { activationFacts } from "../../../src/cli/commands/ai/activation.js";
import { coverageFacts } from "../../../src/cli/commands/ai/coverage.js";
import { customerFacts, type CustomerRecord, findingsOf } from "../../../src/cli/commands/ai/customer.js";
import { Sanitizer, sentExplanation, textsIn } from "../../../src/cli/commands/ai/sanitizer.js";
import type { Explanation } from "../../../src/cli/client/answers.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/model/snapshot/types.js";

/** A date of the customer, and an instant that tells it. */
const DATE = "2031-05-17";
const BEFORE = "2031-04-17T00:00:00.000Z";

const snapshot: Snapshot = {
  ...EMPTY_SNAPSHOT,
  events: { login: { properties: { note: { type: "string" } } } },
  traits: { renewsOn: { type: "date" }, owner: { type: "string" } },
  lifecycle: {
    initial: "new",
    states: [
      { name: "new", transitions: [{ to: "activated", when: { kind: "traitDatePassed", trait: "renewsOn" } }] },
      { name: "activated", transitions: [] },
    ],
  },
};

const leaf = (more: Partial<Explanation>): Explanation => ({
  kind: "count",
  text: 'count of "login" at least 1',
  expected: "at least 1",
  actual: 0,
  met: false,
  missing: 1,
  flipsAt: null,
  ...more,
});
const within = leaf({ kind: "traitDateWithin", text: "renewsOn within 30d", actual: DATE, flipsAt: BEFORE });
const group = leaf({ kind: "any", text: "either", flipsAt: BEFORE, conditions: [within, leaf({})] });

const sanitizer = (...allowed: string[]) =>
  new Sanitizer({ key: "secret", known: textsIn(snapshot), allowed: new Set(allowed) });

/** A customer that waits for a date, with events of these names. */
function record(...names: string[]): CustomerRecord {
  const at = "2026-01-01T00:00:00.000Z";
  const state = {
    customerId: "globex",
    environment: "test",
    createdAt: at,
    lastEventAt: at,
    evaluatedThrough: at,
    configVersion: "v1",
    traits: { renewsOn: DATE },
    lifecycle: "new",
    lifecycleEnteredAt: at,
    segments: [],
    health: null,
    journeys: [],
    signals: [],
    nextDueAt: BEFORE,
  };
  const explanation = {
    customerId: "globex",
    asOf: at,
    configVersion: "v1",
    activeVersion: "v1",
    flipsKnown: true,
    unavailable: null,
    lifecycle: { state: "new", transitions: [{ to: "activated", condition: group }] },
    journeys: [],
    segments: [],
    health: null,
    signals: [],
  };
  return {
    state,
    answer: undefined,
    backlog: { pending: 0, ahead: 0, setAside: null },
    explanation,
    snapshot,
    timeline: [],
    events: names.map((event) => ({
      id: "evt_1",
      event,
      properties: {},
      occurredAt: at,
      acceptedAt: at,
      status: "processed",
    })),
    ruleRuns: [],
  } as unknown as CustomerRecord;
}

test("when a condition on a date flips is withheld as the date is, also of the groups around it", () => {
  expect(JSON.stringify(sentExplanation(sanitizer(), group))).not.toContain("2031");
  expect(JSON.stringify(sentExplanation(sanitizer("renewsOn"), group)).match(/2031-04-17/g)).toHaveLength(2);
  expect(sentExplanation(sanitizer(), leaf({ kind: "inactiveFor", flipsAt: BEFORE }))).toMatchObject({
    flipsAt: BEFORE,
  });
});

test("what is due next is withheld where it may be due at a date of the customer's", () => {
  for (const facts of [customerFacts, (of: CustomerRecord, by: Sanitizer) => activationFacts(of, "activated", by)]) {
    expect(JSON.stringify(facts(record(), sanitizer()).sent)).not.toContain("2031");
    expect(facts(record(), sanitizer("renewsOn")).sent["state"]).toMatchObject({ nextDueAt: BEFORE });
  }
});

test("a name is allowed where a condition is about it, not where its words stand elsewhere", () => {
  const owner = leaf({ kind: "trait", text: 'owner is "note"', actual: "Jane" });
  const latest = leaf({ kind: "latest", text: 'latest of note of "login" is "x"', actual: "Jane" });
  expect(sentExplanation(sanitizer("note", "is"), owner)["actual"]).toBe("(withheld)");
  expect(sentExplanation(sanitizer("login", "latest"), latest)["actual"]).toBe("(withheld)");
  expect(sentExplanation(sanitizer("owner"), owner)["actual"]).toBe("Jane");
  expect(sentExplanation(sanitizer("note"), latest)["actual"]).toBe("Jane");
});

test("names that came in and are no names are sent nowhere, also not in what is to be done", () => {
  const violation = {
    configVersion: "v1",
    event: "jane@example.com",
    code: "UNKNOWN_EVENT",
    path: 'traits["jane@example.com"]',
    operations: 1,
  };
  const arrivals = { environment: "test", lastAt: {}, undeclared: ["jane@example.com"], violations: [violation] };
  const { sent, document } = coverageFacts(snapshot, arrivals, sanitizer());
  expect(JSON.stringify(document["plan"])).toContain("jane@example.com");
  expect(JSON.stringify(sent)).not.toContain("jane");
});

test("an event of a name that all objects have is not declared by that", () => {
  expect(findingsOf(record("login", "toString", "valueOf")).join()).toContain(
    "does not declare, which no condition can read: 2 of the latest 3",
  );
});
