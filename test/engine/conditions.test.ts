import { describe, expect, it } from "vitest";

import type { Condition, Snapshot } from "../../src/model/snapshot/types.js";
import {
  activeWithin,
  aggregate,
  all,
  any,
  count,
  dateWithin,
  distinct,
  happened,
  inactiveFor,
  inLifecycle,
  inSegment,
  inState,
  not,
  property,
  snapshotOf,
  trait,
  traitExists,
  type Properties,
} from "./support/builders.js";
import { LiveCustomer, type Step } from "./support/live.js";
import { underEngine as create } from "./support/subject-engine.js";

/** An event at each instant; in `a` unless named otherwise. */
const events = (...instants: (string | [event: string, instant: string, properties?: Properties])[]): Step[] =>
  instants.map((one, i): Step => {
    const [event, instant, properties = {}] = typeof one === "string" ? ["a", one] : one;
    return [`e${i + 1}`, "track", event, instant, instant, properties];
  });
const known = (traits: Properties, instant = "01-01"): Step[] => [["i1", "identify", traits, instant]];
const tick = (instant: string): Step => ["tick", instant];

// aggregates.test.ts compares counts, also in windows, with a recomputation over everything.

type Row = [rule: string, condition: Condition, steps: Step[], memberships: string[], nextDueAt: string];

// A table reads best with one rule per line. Memberships are those of a segment with the condition: `from – to`, or `from –`.
// oxfmt-ignore
const windows: Row[] = [
  ["an occurrence counts from its instant", happened("a"), events("01-02"), ["01-02 00:00 –"], "—"],
  ["not n is its negation", count("a", "ne", 2), events("01-01", "01-02", "01-03"), ["01-01 00:00 – 01-02 00:00", "01-03 00:00 –"], "—"],
  ["at least none always holds", count("b", "gte", 0, { within: "1d" }), events("01-01"), ["01-01 00:00 –"], "—"],
  ["exactly n within: from when the surplus leaves until one of the n leaves", count("a", "eq", 1, { within: "7d" }), [...events("01-01", "01-03"), tick("02-01")], ["01-01 00:00 – 01-03 00:00", "01-08 00:00 – 01-10 00:00"], "—"],
  ["exactly none within: from when the last one leaves", count("a", "eq", 0, { within: "7d" }), [...events("01-01", "01-03"), tick("02-01")], ["01-10 00:00 –"], "—"],
  ["a fractional limit is reached by the next whole number", count("a", "gte", 1.5), events("01-01", "01-02"), ["01-02 00:00 –"], "—"],
  ["no number of occurrences equals a fraction", count("a", "eq", 1.5), events("01-01", "01-02"), [], "—"],
  ["exactly n within is skipped when two leave at once", count("a", "eq", 1, { within: "7d" }), [...events("01-01", "01-01"), tick("02-01")], ["01-01 00:00 – 01-01 00:00"], "—"],
];

// oxfmt-ignore
const filters: Row[] = [
  ["a filter compares a property", happened("a", { where: property("x", "gte", 5) }), events(["a", "01-01", { x: 4 }], ["a", "01-02", { x: 5 }]), ["01-02 00:00 –"], "—"],
  ["an absent property is not less than any number", happened("a", { where: property("x", "lt", 5) }), events(["a", "01-01"], ["a", "01-02", { x: null }]), [], "—"],
  ["an absent property is unequal to everything", happened("a", { where: property("x", "ne", 5) }), events(["a", "01-01"]), ["01-01 00:00 –"], "—"],
  ["a number is not a text", happened("a", { where: property("x", "eq", 5) }), events(["a", "01-01", { x: "5" }]), [], "—"],
  ["null is not a value", happened("a", { where: { kind: "exists", property: "x" } }), events(["a", "01-01", { x: null }], ["a", "01-02", { x: 0 }]), ["01-02 00:00 –"], "—"],
  ["an inherited member is not a property", happened("a", { where: { kind: "exists", property: "constructor" } }), events("01-01"), [], "—"],
  ["a text contains a part", happened("a", { where: property("x", "contains", "bc") }), events(["a", "01-01", { x: "abcd" }]), ["01-01 00:00 –"], "—"],
  ["an array contains an element, not a part of one", happened("a", { where: property("x", "contains", "b") }), events(["a", "01-01", { x: ["bc"] }], ["a", "01-02", { x: ["b"] }]), ["01-02 00:00 –"], "—"],
  ["membership in a list", happened("a", { where: property("x", "in", [1, 2]) }), events(["a", "01-01", { x: 3 }], ["a", "01-02", { x: 2 }]), ["01-02 00:00 –"], "—"],
  ["all, any and not combine", happened("a", { where: { kind: "all", conditions: [{ kind: "not", condition: property("x", "eq", 1) }, { kind: "any", conditions: [property("y", "eq", 1), property("y", "eq", 2)] }] } }), events(["a", "01-01", { x: 1, y: 1 }], ["a", "01-02", { x: 2, y: 3 }], ["a", "01-03", { x: 2, y: 2 }]), ["01-03 00:00 –"], "—"],
  ["a declared date is compared by its instant", happened("d", { where: property("day", "eq", "2026-01-01") }), events(["d", "01-02", { day: "2026-01-01T01:00:00+01:00" }]), ["01-02 00:00 –"], "—"],
  ["dates are ordered", happened("d", { where: property("day", "lt", "2026-01-01") }), events(["d", "01-01", { day: "2026-01-01" }], ["d", "01-02", { day: "2025-12-31T23:59:59Z" }]), ["01-02 00:00 –"], "—"],
  ["an invalid declared date is absent", happened("d", { where: { kind: "exists", property: "day" } }), events(["d", "01-01", { day: "2026-02-30" }], ["d", "01-02", { day: "2026-02-28" }]), ["01-02 00:00 –"], "—"],
];

// oxfmt-ignore
const traits: Row[] = [
  ["a trait equals a value", trait("plan", "eq", "pro"), known({ plan: "pro" }), ["01-01 00:00 –"], "—"],
  ["an absent trait is in no list", trait("plan", "in", ["free", "pro"]), known({ seats: 1 }), [], "—"],
  ["an absent trait is outside every list", trait("plan", "notIn", ["free", "pro"]), known({ seats: 1 }), ["01-01 00:00 –"], "—"],
  ["an absent trait is neither less nor greater", any(trait("seats", "lt", 5), trait("seats", "gte", 5)), known({ plan: "pro" }), [], "—"],
  ["a trait exists until null removes it", traitExists("plan"), [...known({ plan: "pro" }), ...known({ plan: null }, "01-02")], ["01-01 00:00 – 01-02 00:00"], "—"],
  ["a list trait contains an element", trait("tags", "contains", "x"), known({ tags: ["x", "y"] }), ["01-01 00:00 –"], "—"],
  ["a date is near from the given distance before it", dateWithin("renewsOn", "7d"), [...known({ renewsOn: "2026-01-20" }), tick("01-12 23:59:59.999")], [], "01-13 00:00"],
  ["a date is near until it comes", dateWithin("renewsOn", "7d"), [...known({ renewsOn: "2026-01-20" }), tick("01-19 23:59:59.999")], ["01-13 00:00 –"], "01-20 00:00"],
  ["a date that has passed is not near", dateWithin("renewsOn", "7d"), [...known({ renewsOn: "2026-01-20" }), tick("02-01")], ["01-13 00:00 – 01-20 00:00"], "—"],
  ["a date-time has its own instant", dateWithin("renewsOn", "7d"), [...known({ renewsOn: "2026-01-20T12:00:00+02:00" }), tick("02-01")], ["01-13 10:00 – 01-20 10:00"], "—"],
  ["a date-time without zone is not a date", dateWithin("renewsOn", "7d"), known({ renewsOn: "2026-01-20T12:00:00" }), [], "—"],
  ["a date that stands for “never” is never due", { kind: "traitDatePassed", trait: "renewsOn", by: "7d" }, known({ renewsOn: "9999-12-31" }), [], "—"],
  ["the last possible day", { kind: "traitDatePassed", trait: "renewsOn" }, known({ renewsOn: "9999-12-31" }), [], "12-31 00:00"],
  ["a changed date changes the due instant", dateWithin("renewsOn", "7d"), [...known({ renewsOn: "2026-01-20" }), ...known({ renewsOn: "2026-03-20" }, "01-02")], [], "03-13 00:00"],
];

// oxfmt-ignore
const activity: Row[] = [
  ["inactive exactly after the time", inactiveFor("3d"), [...events("01-01"), tick("01-03 23:59:59.999")], [], "01-04 00:00"],
  ["inactive until the next event of any kind", inactiveFor("3d"), [...events("01-01"), tick("01-05"), ["e2", "track", "b", "01-06"]], ["01-04 00:00 – 01-06 00:00"], "01-09 00:00"],
  ["without events, inactive from the first evaluation on", inactiveFor("3d"), [...known({ plan: "pro" }), tick("02-01")], ["01-04 00:00 –"], "—"],
  ["active within: ends exactly after the time", activeWithin("3d"), [...events("01-01"), tick("01-04")], ["01-01 00:00 – 01-04 00:00"], "—"],
  ["active within needs an event", activeWithin("3d"), known({ plan: "pro" }), [], "—"],
  ["`all` holds while each part holds", all(activeWithin("3d"), happened("a", { within: "2d" })), [...events("01-01"), tick("02-01")], ["01-01 00:00 – 01-03 00:00"], "—"],
  ["`any` holds while one part holds", any(activeWithin("3d"), happened("a", { within: "2d" })), [...events("01-01"), tick("02-01")], ["01-01 00:00 – 01-04 00:00"], "—"],
  ["every part of a tree makes the customer due", any(activeWithin("3d"), happened("a", { within: "2d" })), events("01-01"), ["01-01 00:00 –"], "01-03 00:00"],
  ["an empty `all` holds, an empty `any` does not", all(all(), not(any())), events("01-01"), ["01-01 00:00 –"], "—"],
];

// The lifecycle goes from `first` to `second` at the first `go`, and to `third` after five days in it.
// oxfmt-ignore
const states: Row[] = [
  ["a state holds from its entry", inLifecycle("second"), events("01-01", ["go", "01-02"]), ["01-02 00:00 –"], "01-07 00:00"],
  ["one of several states", inLifecycle("first", "third"), [...events("01-01", ["go", "01-02"]), tick("02-01")], ["01-01 00:00 – 01-02 00:00", "01-07 00:00 –"], "—"],
  ["time in the state begins with it and starts anew with the next", inState("3d"), [...events("01-01", ["go", "01-02"]), tick("02-01")], ["01-05 00:00 – 01-07 00:00", "01-10 00:00 –"], "—"],
  ["since the state: neither the event that caused it nor earlier ones count", happened("go", { since: "state" }), events(["go", "01-02"], ["go", "01-03"]), ["01-03 00:00 –"], "01-07 00:00"],
  ["since the state: an event at its instant and later in order counts", happened("a", { since: "state" }), events(["b", "01-02"], ["a", "01-02"], ["go", "01-02"], ["a", "01-02"]), ["01-02 00:00 – 01-02 00:00", "01-02 00:00 –"], "01-07 00:00"],
  ["since the state: a late event from before it does not count", happened("a", { since: "state" }), [["e1", "track", "go", "01-03"], ["e2", "track", "a", "01-04", "01-02"]], [], "01-08 00:00"],
  ["since the state: an event accepted before a late cause but later in order counts", happened("a", { since: "state" }), [["e1", "track", "b", "01-01"], ["e2", "track", "a", "01-03"], ["e3", "track", "go", "01-04", "01-02"]], ["01-03 00:00 –"], "01-08 00:00"],
  ["since the state, within a window", happened("a", { since: "state", within: "2d" }), [...events("01-01", ["go", "01-02"], "01-03"), tick("01-06")], ["01-03 00:00 – 01-05 00:00"], "01-07 00:00"],
  ["membership of another segment", inSegment("other"), events("01-01", ["b", "01-02"]), ["01-02 00:00 –"], "—"],
  ["a segment that does not exist has no members", inSegment("nowhere"), events("01-01"), [], "—"],
];

// A value of another type than declared is absent for every condition.
// oxfmt-ignore
const mistyped: Row[] = [
  ["a property exists if it has its declared type", happened("d", { where: { kind: "exists", property: "seats" } }), events(["d", "01-01", { seats: "7" }], ["d", "01-02", { seats: 7 }]), ["01-02 00:00 –"], "—"],
  ["a property with another type is missing", happened("d", { where: { kind: "not", condition: { kind: "exists", property: "text" } } }), events(["d", "01-01", { text: "seven" }], ["d", "01-02", { text: 7 }]), ["01-02 00:00 –"], "—"],
  ["a declared text that is a list contains nothing", happened("d", { where: property("text", "contains", "x") }), events(["d", "01-01", { text: ["x"] }], ["d", "01-02", { text: "xy" }]), ["01-02 00:00 –"], "—"],
  ["a declared list that is a text contains nothing", happened("d", { where: property("tags", "contains", "x") }), events(["d", "01-01", { tags: "xy" }], ["d", "01-02", { tags: ["x"] }]), ["01-02 00:00 –"], "—"],
  ["an item of another type does not hide the others of a list", happened("d", { where: property("tags", "contains", "x") }), events(["d", "01-01", { tags: [7, "x"] }]), ["01-01 00:00 –"], "—"],
  ["unequal, like an absent value", happened("d", { where: property("seats", "ne", 7) }), events(["d", "01-01", { seats: "7" }]), ["01-01 00:00 –"], "—"],
  ["not counted as a distinct value", distinct(["d", "text"], "gte", 2), events(["d", "01-01", { text: "a" }], ["d", "01-02", { text: 7 }], ["d", "01-03", { text: true }], ["d", "01-04", { text: "b" }]), ["01-04 00:00 –"], "—"],
  ["no latest value", { kind: "latestExists", of: { event: "d" }, property: "seats" }, events(["d", "01-01", { seats: "7" }], ["d", "01-02", { seats: 7 }], ["d", "01-03", { seats: "8" }]), ["01-02 00:00 –"], "—"],
  ["no number to sum", aggregate("sum", ["d", "seats"], "gte", 7), events(["d", "01-01", { seats: "7" }], ["d", "01-02", { seats: 7 }]), ["01-02 00:00 –"], "—"],
  ["a trait exists if it has its declared type", traitExists("level"), [...known({ level: "7" }), ...known({ level: 7 }, "01-02"), ...known({ level: [7] }, "01-03")], ["01-02 00:00 – 01-03 00:00"], "—"],
];

const declared: Pick<Snapshot, "events" | "traits"> = {
  events: {
    d: {
      properties: {
        day: { type: "date" },
        seats: { type: "number" },
        text: { type: "string" },
        tags: { type: "array", items: { type: "string" } },
      },
    },
  },
  traits: { renewsOn: { type: "date" }, level: { type: "number" } },
};

describe.each([
  { kind: "counts", rows: windows },
  { kind: "property filters", rows: filters },
  { kind: "traits", rows: traits },
  { kind: "values of another type", rows: mistyped },
  { kind: "activity and combinations", rows: activity },
])("$kind", ({ rows }) => {
  it.each(rows)("%s", (_, condition, steps, memberships, nextDueAt) => {
    const model = snapshotOf({ segments: { s: condition }, ...declared });
    expect(outcome(new LiveCustomer(create, model, steps))).toEqual({ memberships, nextDueAt });
  });
});

describe("lifecycle and segments", () => {
  it.each(states)("%s", (_, condition, steps, memberships, nextDueAt) => {
    const usesLifecycle = condition.kind !== "segment";
    const model = snapshotOf({
      ...(usesLifecycle && {
        states: { first: [["second", happened("go")]], second: [["third", inState("5d")]], third: [] },
      }),
      segments: { s: condition, other: happened("b") },
    });
    expect(outcome(new LiveCustomer(create, model, steps))).toEqual({ memberships, nextDueAt });
  });
});

function outcome(customer: LiveCustomer): { memberships: string[]; nextDueAt: string } {
  const { segments, clock } = customer.outcome();
  return {
    memberships: segments
      .filter((text) => text.startsWith("s "))
      .map((text) => text.replace(/^s in since (.*)/, "$1 –").replace(/^s out \(in (.*), out (.*)\)/, "$1 – $2")),
    nextDueAt: clock.split(", ")[2]!,
  };
}
