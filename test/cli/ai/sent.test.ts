import { expect, test } from "vitest";

import { activationFacts } from "../../../src/cli/commands/ai/activation.js";
import { coverageFacts } from "../../../src/cli/commands/ai/coverage.js";
import { customerFacts, type CustomerRecord, findingsOf } from "../../../src/cli/commands/ai/customer.js";
import { Sanitizer, sentExplanation, textsIn } from "../../../src/cli/commands/ai/sanitizer.js";
import type { Explanation } from "../../../src/http/admin/answers.js";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/model/snapshot/types.js";

/** A date of the customer, and an instant that reveals it. */
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
  ...{ kind: "count", text: 'count of "login" at least 1', expected: "at least 1", actual: 0 },
  ...{ met: false, missing: 1, flipsAt: null },
  ...more,
});
const within = leaf({ kind: "traitDateWithin", text: "renewsOn within 30d", actual: DATE, flipsAt: BEFORE });
const group = leaf({ kind: "any", text: "either", flipsAt: BEFORE, conditions: [within, leaf({})] });

const sanitizer = (...allowed: string[]) =>
  new Sanitizer({ key: "secret", known: textsIn(snapshot), allowed: new Set(allowed) });

/** A customer with a condition on a date, and events of these names. */
function record(...names: string[]): CustomerRecord {
  const at = "2026-01-01T00:00:00.000Z";
  const state = {
    ...{ customerId: "globex", environment: "test", createdAt: at, lastEventAt: at, evaluatedThrough: at },
    ...{ configVersion: "v1", traits: { renewsOn: DATE }, lifecycle: "new", lifecycleEnteredAt: at },
    ...{ segments: [], health: null, journeys: [], signals: [], nextDueAt: BEFORE },
  };
  const explanation = {
    ...{
      customerId: "globex",
      asOf: at,
      configVersion: "v1",
      activeVersion: "v1",
      flipsKnown: true,
      unavailable: null,
    },
    lifecycle: { state: "new", transitions: [{ to: "activated", condition: group }] },
    ...{ journeys: [], segments: [], health: null, signals: [] },
  };
  const of = { id: "evt_1", properties: {}, occurredAt: at, acceptedAt: at, status: "processed" };
  const events = names.map((event) => ({ ...of, event }));
  const backlog = { pending: 0, ahead: 0, setAside: null };
  const record = { state, answer: undefined, backlog, explanation, snapshot, timeline: [], events, ruleRuns: [] };
  return record as unknown as CustomerRecord;
}

test("the instant when a condition on a date flips is withheld like the date, also in enclosing groups", () => {
  expect(JSON.stringify(sentExplanation(sanitizer(), group))).not.toContain("2031");
  expect(JSON.stringify(sentExplanation(sanitizer("renewsOn"), group)).match(/2031-04-17/g)).toHaveLength(2);
  expect(sentExplanation(sanitizer(), leaf({ kind: "inactiveFor", flipsAt: BEFORE }))).toMatchObject({
    flipsAt: BEFORE,
  });
});

/** A copy in which a unique mark replaces every text; adds the path of each mark to `paths`. Member names stay. */
function marked<T>(document: T, paths: string[], path = ""): T {
  if (typeof document === "string") return `MARK${paths.push(path) - 1}.` as T;
  if (typeof document !== "object" || document === null) return document;
  const members = Object.entries(document).map(([name, value]) => {
    return [name, marked(value as unknown, paths, `${path}${Array.isArray(document) ? "[]" : `.${name}`}`)];
  });
  return (Array.isArray(document) ? members.map(([, value]) => value) : Object.fromEntries(members)) as T;
}

test("of all texts in a customer's record, only those of the model and the service are sent", () => {
  const at = "2026-01-01T00:00:00.000Z";
  const full = record("login") as unknown as Record<string, object>;
  const steps = [{ step: "a", completed: true, condition: null }];
  const why = { journey: "tour", status: "active", start: within, steps };
  const component = { component: "use", weight: 1, score: 1, measure: { text: "owner", actual: "Jane" } };
  const paths: string[] = [];
  const given = marked(
    {
      ...full,
      state: {
        ...full["state"],
        segments: ["payers"],
        health: { overall: 1, components: { use: 1 }, band: "good" },
        journeys: [
          {
            ...{ journeyId: "tour", status: "active", currentStep: "b", startedAt: at, completedAt: at, expiredAt: at },
            stepsData: { a: { completedAt: at, triggeredBy: "evt_1" } },
          },
        ],
        signals: [{ signalId: "risk", severity: "info", message: "to Jane", raisedAt: at }],
      },
      backlog: { pending: 1, ahead: 1, setAside: { at, error: "of Jane" } },
      explanation: {
        ...full["explanation"],
        journeys: [why],
        segments: [{ segment: "payers", member: true, condition: within }],
        health: { overall: 1, band: "good", components: [component] },
        signals: [{ signal: "risk", raised: true, severity: "info", condition: within }],
      },
      snapshot: null,
      timeline: [
        {
          ...{ id: "em_1", at, type: "customer.new", source: "lifecycle", metadata: { of: "Jane" } },
          cause: { type: "event", id: "evt_1" },
        },
      ],
      ruleRuns: [
        {
          ...{ customerId: "globex", ruleId: "hint", result: "error", triggeredBy: "event:login", error: "of Jane" },
          ...{ executedAt: at, configVersion: "v1", cause: { type: "event", id: "evt_1" } },
        },
      ],
    },
    paths,
  );
  const { sent } = customerFacts({ ...given, snapshot: null } as unknown as CustomerRecord, sanitizer());
  const text = JSON.stringify(sent);
  const through = [...new Set(paths.filter((_, index) => text.includes(`MARK${index}.`)))].toSorted();
  expect(through).toEqual([
    ...under(".backlog.", "setAside.at"),
    ...under(".events[].", "acceptedAt event occurredAt status"),
    ...under(".explanation.", "activeVersion asOf configVersion"),
    ...under(".explanation.health.", "band components[].component components[].measure.text"),
    ...under(".explanation.journeys[].", "journey start.expected start.flipsAt start.text status steps[].step"),
    ...under(
      ".explanation.lifecycle.",
      "state transitions[].condition.conditions[].expected transitions[].condition.conditions[].flipsAt transitions[].condition.conditions[].text transitions[].condition.flipsAt transitions[].condition.kind transitions[].condition.text transitions[].to",
    ),
    ...under(".explanation.segments[].", "condition.expected condition.flipsAt condition.text segment"),
    ...under(".explanation.signals[].", "condition.expected condition.flipsAt condition.text severity signal"),
    ...under(".ruleRuns[].", "configVersion executedAt result ruleId triggeredBy"),
    ...under(
      ".state.",
      "configVersion createdAt environment evaluatedThrough health.band journeys[].completedAt journeys[].currentStep journeys[].expiredAt journeys[].journeyId journeys[].startedAt journeys[].status journeys[].stepsData.a.completedAt lastEventAt lifecycle lifecycleEnteredAt nextDueAt segments[] signals[].severity signals[].signalId",
    ),
    ...under(".timeline[].", "at cause.type source type"),
  ]);
});

/** Paths of members given as a space-separated list. */
function under(parent: string, members: string): string[] {
  return members.split(" ").map((member) => parent + member);
}

test("the next due instant is withheld if it may derive from a customer's date", () => {
  for (const facts of [customerFacts, (of: CustomerRecord, by: Sanitizer) => activationFacts(of, "activated", by)]) {
    expect(JSON.stringify(facts(record(), sanitizer()).sent)).not.toContain("2031");
    expect(facts(record(), sanitizer("renewsOn")).sent["state"]).toMatchObject({ nextDueAt: BEFORE });
  }
});

test("a name is allowed if a condition is about it, not if the word occurs elsewhere in its text", () => {
  const owner = leaf({ kind: "trait", text: 'owner is "note"', actual: "Jane" });
  const latest = leaf({ kind: "latest", text: 'latest of note of "login" is "x"', actual: "Jane" });
  expect(sentExplanation(sanitizer("note", "is"), owner)["actual"]).toBe("(withheld)");
  expect(sentExplanation(sanitizer("login", "latest"), latest)["actual"]).toBe("(withheld)");
  expect(sentExplanation(sanitizer("owner"), owner)["actual"]).toBe("Jane");
  expect(sentExplanation(sanitizer("note"), latest)["actual"]).toBe("Jane");
});

test("received names that are not plain identifiers are never sent, not even in the plan", () => {
  const event = "jane@example.com";
  const violation = { configVersion: "v1", event, code: "UNKNOWN_EVENT", path: `traits["${event}"]`, operations: 1 };
  const arrivals = { environment: "test", lastAt: {}, undeclared: [event], violations: [violation] };
  const { sent, document } = coverageFacts(snapshot, arrivals, sanitizer());
  expect(JSON.stringify(document["plan"])).toContain("jane@example.com");
  expect(JSON.stringify(sent)).not.toContain("jane");
});

test("record-only events are to be sent, but need no condition that reads them", () => {
  const all = { ...snapshot, events: { login: { properties: {} }, "page viewed": { properties: {} } } };
  const planned = (lastAt: string | null, recordOnly: string[]) => {
    const arrivals = {
      environment: "test",
      lastAt: { login: null, "page viewed": lastAt },
      undeclared: [],
      violations: [],
    };
    const { plan } = coverageFacts(all, arrivals, sanitizer(), recordOnly).document as { plan: string[] };
    return plan.filter((one) => one.includes("page viewed"));
  };
  const unread = "Read page viewed in a condition, or remove it from the model: nothing reads it.";
  expect(planned("2026-01-01T00:00:00Z", [])).toEqual([unread]);
  expect(planned("2026-01-01T00:00:00Z", ["page viewed"])).toEqual([]);
  expect(planned(null, ["page viewed"])).toEqual([
    "Send page viewed, or remove it from the model: it was never received.",
  ]);
});

test("an event named like an inherited object property counts as undeclared", () => {
  expect(findingsOf(record("login", "toString", "valueOf")).join()).toContain(
    "does not declare, which no condition can read: 2 of the latest 3",
  );
});

test("findings of a customer set aside before its first evaluation say nothing that only evaluation can know", () => {
  const { state, backlog, explanation, ...rest } = record("login");
  const setAside = { at: "2026-01-01T00:00:00.000Z", error: "Error: no" };
  const unevaluated = {
    ...rest,
    state: { ...state, configVersion: null, evaluatedThrough: null, lastEventAt: null },
    backlog: { ...backlog, pending: 1, setAside },
    explanation: { ...explanation, configVersion: null, asOf: null },
  };
  expect(findingsOf(unevaluated)).toEqual([expect.stringMatching(/^Its evaluation failed at 2026-01-01T/)]);
  const evaluated = { ...unevaluated, state: { ...state, lastEventAt: null }, events: [] };
  expect(findingsOf(evaluated)).toEqual([
    expect.stringMatching(/^Its evaluation failed/),
    expect.stringMatching(/^Its state was computed under no model, and v1 is active/),
    "It has no events: only traits are known.",
  ]);
});
