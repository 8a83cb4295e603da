import fc from "fast-check";
import { expect, test } from "vitest";

import { lint } from "../../src/dsl-compiler/lint/lint.js";
import type { Condition } from "../../src/model/snapshot/types.js";
import { parseSnapshot } from "../../src/model/validate/validate.js";
import {
  activeWithin,
  all,
  any,
  count,
  daysSince,
  happened,
  inactiveFor,
  inLifecycle,
  inSegment,
  inState,
  modelOf,
  not,
  seen,
  snapshotOf,
  trait,
} from "../engine/support/builders.js";
import { Run } from "../engine/support/runner.js";
import { propertyRuns } from "../support/property-runs.js";

type States = Record<string, [to: string, when: Condition][]>;

const YEAR = 365 * 86_400_000;

function circlesIn(states: States): [path: string, message: string][] {
  const given = snapshotOf({
    events: { order: { properties: {} } },
    traits: { plan: { type: "string", enum: ["free", "pro"] }, end: { type: "date" } },
    states,
    segments: { some: happened("order") },
  });
  const parsed = parseSnapshot(given);
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.problems));
  return lint(parsed.snapshot).flatMap(({ code, path, message }) =>
    code === "CIRCLE_BY_TIME" ? [[path, message]] : [],
  );
}

const silent = inactiveFor("7d");
const active = activeWithin("7d");
const ended: Condition = { kind: "traitDatePassed", trait: "end" };
const some = inSegment("some");
const plan = (value: string): Condition => trait("plan", "eq", value);
const minute = inState("1m");

/** States `a` and `b`, which lead to each other on these conditions. */
const twoWays = (there: Condition, back: Condition): States => ({ a: [["b", there]], b: [["a", back]] });

test.each<[string, States]>([
  ["two states", twoWays(minute, minute)],
  ["a wait of days in one of three states", { a: [["b", minute]], b: [["c", minute]], c: [["a", inState("1d")]] }],
  ["a state that is left at once", { a: [["b", minute]], b: [["c", silent]], c: [["a", minute]] }],
  ["inactivity", twoWays(all(minute, silent), all(minute, not(active)))],
  ["one of several alternatives", twoWays(any(happened("order", { within: "1d" }), minute), any(some, minute))],
  ["a trait", twoWays(all(minute, plan("pro")), minute)],
  ["a date", twoWays(all(minute, ended), minute)],
  ["days", twoWays(all(minute, daysSince("last", "order", "gt", 3)), minute)],
  ["a count over the whole history", twoWays(all(minute, count("order", "lt", 3)), minute)],
  ["a transition that comes later", { a: [["c", inState("2m")], ["b", minute]], b: [["a", minute]], c: [] }], // oxfmt-ignore
])("a circle through %s is reported at its first transition", (_, states) => {
  const [first, ...rest] = circlesIn(states);
  expect(rest).toEqual([]);
  expect(first![0]).toMatch(/^lifecycle\.states\[0\]\.transitions\[\d\]$/);
});

test("the message names the states and the time", () => {
  expect(circlesIn({ start: [["a", minute]], ...twoWays(inState("1h"), inState("3h")) })).toEqual([
    [
      "lifecycle.states[1].transitions[0]",
      'time alone leads from "a" to "b" to "a", and round again: a customer who sends nothing new is moved 1,000 times ' +
        "within 84 days, and then no more",
    ],
  ]);
});

test.each<[string, States]>([
  ["months", twoWays(inState("30d"), inState("30d"))],
  ["an event", twoWays(all(minute, happened("order", { since: "state" })), minute)],
  ["an event in a window", twoWays(all(minute, happened("order", { within: "30d" })), minute)],
  ["activity", twoWays(all(minute, active), minute)],
  ["a segment", twoWays(all(minute, some), minute)],
  ["traits that contradict each other", twoWays(all(minute, plan("pro")), all(minute, plan("free")))],
  ["days that pass", twoWays(all(minute, daysSince("last", "order", "lt", 3)), minute)],
  ["a single wait", twoWays(minute, silent)],
  ["an exit that comes first", { a: [["b", minute]], b: [["c", minute], ["a", minute]], c: [] }], // oxfmt-ignore
  ["an exit on inactivity", { a: [["b", minute]], b: [["a", minute], ["c", silent]], c: [] }], // oxfmt-ignore
  ["another state", twoWays(all(minute, inLifecycle("b")), minute)],
])("a circle that %s ends, slows or stops is accepted", (_, states) => {
  expect(circlesIn(states)).toEqual([]);
});

test("lifecycles that only wait are reported exactly when the engine stops them", () => {
  const names = ["a", "b", "c", "d"];
  const to = fc.tuple(fc.constantFrom(...names), fc.constantFrom("1m", "5m", "1h", "30d").map(inState));
  const lifecycles = fc.record(Object.fromEntries(names.map((name) => [name, fc.array(to, { maxLength: 2 })])));
  const outcomes = new Set<boolean>();
  fc.assert(
    fc.property(lifecycles, (drawn: States) => {
      const states = Object.fromEntries(
        Object.entries(drawn).map(([name, ways]) => [name, ways.filter(([target]) => target !== name)]),
      );
      const isEnded = names.some((initial) => {
        const run = new Run(modelOf({ states: { [initial]: states[initial]!, ...states } }));
        run.take([seen(1, 0)]);
        run.tick(YEAR);
        return run.effects.some(({ kind }) => kind === "blocked");
      });
      outcomes.add(isEnded);
      expect(circlesIn(states).length > 0).toBe(isEnded);
    }),
    { numRuns: propertyRuns(60) },
  );
  expect(outcomes.size).toBe(2);
});
