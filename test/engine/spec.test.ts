import { describe, expect, it } from "vitest";

import type { Health, Score } from "../../src/model/snapshot/types.js";
import {
  activeWithin,
  addTo,
  aggregate,
  all,
  any,
  atStep,
  clear,
  compared,
  count,
  counted,
  dateWithin,
  daysSince,
  emit,
  happened,
  healthIs,
  healthOf,
  inactiveFor,
  inBand,
  inLifecycle,
  inSegment,
  inState,
  journeyIs,
  lately,
  minus,
  not,
  number,
  of,
  per,
  raise,
  removeFrom,
  rule,
  sequence,
  snapshotOf,
  stepCompleted,
  trait,
  traitExists,
  traitNumber,
  type Parts,
} from "./support/builders.js";
import { LiveCustomer, type Outcome, type ReplayOutcome, type Step } from "./support/live.js";
import { underEngine } from "./support/subject-engine.js";
import { underReference } from "./support/subject-reference.js";

/** A rule of the specification, the smallest model that shows it, the steps, and the relevant part of the outcome. */
type Row = [
  rule: string,
  parts: Parts,
  steps: Step[],
  expected: Partial<Outcome> & { replay?: Partial<ReplayOutcome> },
];

/** An event that is accepted when it occurs. */
const on = (instant: string, event: string, properties = {}): Step => [`${event}@${instant}`, "track", event, instant, instant, properties]; // oxfmt-ignore
/** An event that is accepted later or earlier than it occurs. */
const shifted = (accepted: string, occurred: string, event: string): Step => [`${event}@${occurred}`, "track", event, accepted, occurred]; // oxfmt-ignore
const identify = (instant: string, traits: Record<string, string | number | null>): Step => ["i", "identify", traits, instant]; // oxfmt-ignore
const tick = (instant: string): Step => ["tick", instant];

/** 100 after the event, 0 two days and more after it. */
const fresh = healthOf({ fresh: lately("a", [1, 100]) }, { good: 50, bad: 0 });
const absently = (score: Score, absent: "skip" | number): Health => {
  return { components: [{ id: "c", weight: 1, score, absent }], bands: fresh.bands };
};
const npsScore: Score = {
  kind: "scale",
  of: { kind: "latest", of: of("nps"), property: "score" },
  from: 0,
  to: 10,
};
const onePerEvent = ([first, second]: [number, number]): Health =>
  healthOf({ c0: [first, counted("a", 3)], c1: [second, counted("b", 3)] }, { good: 50, bad: 0 });

// oxfmt-ignore
const clock: Row[] = [
  ["an event is evaluated when it occurred", { segments: { s: happened("a") } }, [shifted("06-01", "01-01", "a")], { segments: ["s in since 01-01 00:00"], clock: "01-01 00:00, 01-01 00:00, —" }],
  ["a late event is evaluated at the clock, and counts where it occurred", { segments: { s: count("a", "gte", 2, { within: "2d" }) } }, [on("01-03", "a"), shifted("01-03 00:01", "01-02", "a"), tick("02-01")], { segments: ["s out (in 01-03 00:00, out 01-04 00:00)"] }],
  ["an identify makes the customer due at its acceptance and does not move the clock itself", { segments: { s: trait("plan", "eq", "pro") } }, [shifted("01-02", "01-01", "a"), identify("01-02", { plan: "pro" })], { segments: [], clock: "01-01 00:00, 01-01 00:00, 01-02 00:00" }],
  ["an event exactly five minutes ahead is evaluated at once", { segments: { s: happened("a") } }, [shifted("01-01 00:00", "01-01 00:05", "a")], { segments: ["s in since 01-01 00:05"] }],
  ["an event further ahead waits for its instant", { segments: { s: happened("a") } }, [on("01-01", "b"), shifted("01-01 00:00", "01-01 00:05:00.001", "a")], { segments: [], clock: "01-01 00:00, 01-01 00:00, 01-01 00:05:00.001" }],
  ["and is evaluated then, before any later operation", { states: { s: [["t", happened("a")]], t: [] } }, [shifted("01-01 10:00", "01-01 12:00", "a"), on("01-01 13:00", "b")], { transitions: ["null→s 01-01 10:00 by timer", "s→t 01-01 12:00 by a@01-01 12:00"] }],
  ["the first event is in the future: the customer is due at its acceptance, by timer", { segments: { s: not(happened("a")) } }, [shifted("01-01 00:00", "01-01 06:00", "a"), tick("01-02")], { segments: ["s out (in 01-01 00:00, out 01-01 06:00)"], emissions: ["segment.entered (s) 01-01 00:00 by timer", "segment.exited (s) 01-01 06:00 by a@01-01 06:00"] }],
  ["an identify waits for no timer where the last event was late", { segments: { s: inactiveFor("1d") } }, [shifted("01-05", "01-01", "a"), identify("01-05", { plan: "pro" })], { segments: [], clock: "01-01 00:00, 01-01 00:00, 01-02 00:00" }],
  ["but an identify due at the clock comes first even then", { segments: { s: trait("plan", "eq", "free") } }, [shifted("01-02 12:00", "01-02 12:04", "a"), shifted("01-02 12:01", "01-02 11:00", "b"), identify("01-02 12:02", { plan: "free" }), identify("01-02 12:10", { plan: "pro" })], { segments: ["s out (in 01-02 12:04, out 01-02 12:10)"] }],
  ["due instants before an identify come first where the last event was punctual", { segments: { s: inactiveFor("1d"), p: trait("plan", "eq", "pro") } }, [on("01-01", "a"), identify("01-05", { plan: "pro" })], { segments: ["s in since 01-02 00:00", "p in since 01-05 00:00"] }],
  ["an identify that changes nothing makes nothing due", { rules: { r: rule({ kind: "traitsChanged" }, emit("x")) } }, [identify("01-01", { plan: "pro" }), identify("01-02", { plan: "pro" }), tick("01-03")], { rules: ["r pass 01-01 00:00 (traits)"], clock: "01-01 00:00, —, —" }],
  ["several identifies of one instant are one evaluation", { rules: { r: rule({ kind: "traitsChanged" }, emit("x")) } }, [identify("01-01", { plan: "pro" }), identify("01-01", { seats: 3 })], { rules: ["r pass 01-01 00:00 (traits)"] }],
  ["so are several identifies due at the clock", { segments: { free: trait("plan", "eq", "free"), known: traitExists("plan") } }, [shifted("01-02 12:00", "01-02 12:04", "a"), shifted("01-02 12:01", "01-02 11:00", "b"), identify("01-02 12:02", { plan: "free" }), identify("01-02 12:03", { plan: "pro" }), tick("01-02 12:10")], { emissions: ["segment.entered (known) 01-02 12:04 by identify"] }],
  ["at one instant: the timer, then the identify, then the event", { states: { s: [["quiet", inactiveFor("1d")], ["known", trait("plan", "eq", "pro")]], quiet: [["known", trait("plan", "eq", "pro")]], known: [["active", happened("b")]], active: [] } }, [on("01-01", "a"), identify("01-02", { plan: "pro" }), on("01-02", "b")], { transitions: ["null→s 01-01 00:00 by a@01-01", "s→quiet 01-02 00:00 by timer", "quiet→known 01-02 00:00 by identify", "known→active 01-02 00:00 by b@01-02"] }],
  ["a tick that finds nothing due does not move the clock", { segments: { s: inactiveFor("9d") } }, [on("01-01", "a"), tick("01-05")], { clock: "01-01 00:00, 01-01 00:00, 01-10 00:00" }],
  ["under an empty model traits merge and the clock moves", {}, [identify("01-01", { plan: "pro" }), on("01-01", "a")], { emissions: [], traits: { plan: "pro" }, clock: "01-01 00:00, 01-01 00:00, —" }],
];

// oxfmt-ignore
const evaluation: Row[] = [
  ["a part is evaluated after the parts it reads, in any order of declaration", { segments: { reads: inSegment("read"), read: happened("a") } }, [on("01-01", "a")], { emissions: ["segment.entered (read) 01-01 00:00 by a@01-01", "segment.entered (reads) 01-01 00:00 by a@01-01"] }],
  ["in a cycle through the lifecycle the default order is repeated until nothing changes", { states: { s: [["t", inSegment("g")]], t: [] }, segments: { g: all(inLifecycle("s"), happened("a")) } }, [on("01-01", "a")], { emissions: ["customer.created (null→s)", "segment.entered (g)", "customer.t (s→t)", "segment.exited (g)"].map((text) => `${text} 01-01 00:00 by a@01-01`) }],
  ["by default: lifecycle, journeys, segments, health, rules, signals", { states: { s: [] }, journeys: { j: { start: happened("a"), steps: [["t", happened("b")]] } }, segments: { g: happened("a") }, health: fresh, rules: { r: rule("a", emit("x")) }, signals: { w: { when: happened("a") } } }, [on("01-01", "a")], { emissions: ["customer.created (null→s)", "journey.started (j)", "segment.entered (g)", "health.changed (null→good 100)", "x (r)", "signal.raised (w warning)"].map((text) => `${text} 01-01 00:00 by a@01-01`) }],
  ["a rule's action is not a read: the parts that read the segment are evaluated again", { segments: { vip: null, copy: inSegment("vip") }, rules: { r: rule("a", addTo("vip")) } }, [on("01-01", "a")], { emissions: ["segment.entered (vip) 01-01 00:00 by a@01-01", "segment.entered (copy) 01-01 00:00 by a@01-01"] }],
  ["a rule runs once per instant even if its trigger comes twice", { segments: { g: null }, rules: { on: rule("a", addTo("g")), note: rule({ kind: "segmentEntered", segment: "g" }, removeFrom("g")), off: rule({ kind: "segmentExited", segment: "g" }, addTo("g")) } }, [on("01-01", "a")], { rules: ["on pass 01-01 00:00 (event:a)", "note pass 01-01 00:00 (segment.entered:g)", "off pass 01-01 00:00 (segment.exited:g)"], segments: ["g out (in 01-01 00:00, out 01-01 00:00)", "g in since 01-01 00:00"] }],
  ["each state is entered at most once per instant, including the current one", { states: { s: [["t", happened("a")]], t: [["s", happened("a")]] } }, [on("01-01", "a")], { transitions: ["null→s 01-01 00:00 by a@01-01", "s→t 01-01 00:00 by a@01-01"], blocked: ["t→s 01-01 00:00"], clock: "01-01 00:00, 01-01 00:00, —" }],
  ["a blocked transition ends the search: a later one of the state is not tried", { states: { s: [["t", happened("a")]], t: [["s", happened("a")], ["u", happened("a")]], u: [] } }, [on("01-01", "a")], { transitions: ["null→s 01-01 00:00 by a@01-01", "s→t 01-01 00:00 by a@01-01"] }],
  ["a blocked transition is tried again at the next operation of any kind", { states: { s: [["t", happened("a")]], t: [["s", happened("a")]] } }, [on("01-01", "a"), on("01-02", "z")], { transitions: ["null→s 01-01 00:00 by a@01-01", "s→t 01-01 00:00 by a@01-01", "t→s 01-02 00:00 by z@01-02"] }],
  ["each journey starts at most once per instant", { journeys: { j: { start: activeWithin("1d"), repeat: true, steps: [["t", activeWithin("1d")]] } } }, [on("01-01", "a")], { emissions: ["journey.started (j)", "journey.step_completed (j t)", "journey.completed (j)"].map((text) => `${text} 01-01 00:00 by a@01-01`) }],
  ["late events evaluated at the same clock are separate evaluations", { states: { s: [["t", count("a", "gte", 2)]], t: [["s", count("a", "gte", 3)]] } }, [on("01-05", "b"), shifted("01-06", "01-01", "a"), shifted("01-06", "01-02", "a"), shifted("01-06", "01-03", "a")], { transitions: ["null→s 01-05 00:00 by b@01-05", "s→t 01-05 00:00 by a@01-02", "t→s 01-05 00:00 by a@01-03"] }],
];

// oxfmt-ignore
const lifecycle: Row[] = [
  ["the initial state has a transition from null and its own emission", { states: { s: [] } }, [on("01-01", "a")], { transitions: ["null→s 01-01 00:00 by a@01-01"], emissions: ["customer.created (null→s) 01-01 00:00 by a@01-01"] }],
  ["the first declared transition that holds is taken", { states: { s: [["t", happened("a")], ["u", happened("a")]], t: [], u: [] } }, [on("01-01", "a")], { transitions: ["null→s 01-01 00:00 by a@01-01", "s→t 01-01 00:00 by a@01-01"] }],
  ["a transition declared last, such as one from any state, is tried after the others", { states: { active: [["quiet", inactiveFor("9d")], ["churned", happened("gone", { since: "state" })]], quiet: [["active", activeWithin("3d")], ["churned", happened("gone", { since: "state" })]], churned: "terminal" } }, [on("01-01", "a"), on("01-15", "gone"), on("01-16", "gone")], { transitions: ["null→active 01-01 00:00 by a@01-01", "active→quiet 01-10 00:00 by timer", "quiet→active 01-15 00:00 by gone@01-15", "active→churned 01-16 00:00 by gone@01-16"] }],
  ["a terminal state is not left", { states: { s: [["t", happened("a")]], t: "terminal" } }, [on("01-01", "a"), on("01-02", "a")], { transitions: ["null→s 01-01 00:00 by a@01-01", "s→t 01-01 00:00 by a@01-01"] }],
  ["states that alternate by time do so at each due instant", { states: { s: [["t", inState("12h")]], t: [["s", inState("12h")]] } }, [on("01-01", "a"), tick("01-02")], { transitions: ["null→s 01-01 00:00 by a@01-01", "s→t 01-01 12:00 by timer", "t→s 01-02 00:00 by timer"], clock: "01-02 00:00, 01-01 00:00, 01-02 12:00" }],
  ["time in the state begins at its entry, inclusive at its end", { states: { s: [["t", inState("2d")]], t: [] } }, [on("01-01", "a"), tick("01-03")], { transitions: ["null→s 01-01 00:00 by a@01-01", "s→t 01-03 00:00 by timer"] }],
  ["only the current state's conditions make the customer due", { states: { s: [["t", happened("b")]], t: [["s", inactiveFor("1d")]] } }, [on("01-01", "a")], { clock: "01-01 00:00, 01-01 00:00, —" }],
];

// oxfmt-ignore
const journeys: Row[] = [
  ["steps of a checklist count from the start of the journey", { journeys: { j: { start: happened("a"), steps: [["t", happened("b")]] } } }, [on("01-01", "b"), on("01-02", "a")], { journeys: ["j active at t, 01-02 00:00 – …"] }],
  ["steps complete in their order", { journeys: { j: { start: happened("a"), steps: [["t", happened("b")], ["u", happened("c")]] } } }, [on("01-01", "a"), on("01-02", "c"), on("01-03", "b")], { journeys: ["j complete at u, 01-01 00:00 – 01-03 00:00: t 01-03 00:00 by b@01-03, u 01-03 00:00 by b@01-03"] }],
  ["or in any order, and are listed in the order of declaration", { journeys: { j: { start: happened("a"), anyOrder: true, steps: [["t", happened("b")], ["u", happened("c")]] } } }, [on("01-01", "a"), on("01-02", "c"), on("01-03", "b")], { journeys: ["j complete at u, 01-01 00:00 – 01-03 00:00: t 01-03 00:00 by b@01-03, u 01-02 00:00 by c@01-02"] }],
  ["the current step is the first unfinished one", { journeys: { j: { start: happened("a"), anyOrder: true, steps: [["t", happened("b")], ["u", happened("c")]] } } }, [on("01-01", "a"), on("01-02", "c")], { journeys: ["j active at t, 01-01 00:00 – …: u 01-02 00:00 by c@01-02"] }],
  ["a step of a funnel counts from the completion of the one before", { journeys: { j: { start: happened("a"), steps: [["t", happened("b")], ["u", happened("c"), "previousStep"]] } } }, [on("01-01", "a"), on("01-02", "c"), on("01-03", "b"), on("01-04", "c")], { journeys: ["j complete at u, 01-01 00:00 – 01-04 00:00: t 01-03 00:00 by b@01-03, u 01-04 00:00 by c@01-04"] }],
  ["the first step of a funnel counts from the start", { journeys: { j: { start: happened("a"), steps: [["t", happened("b"), "previousStep"]] } } }, [on("01-01", "b"), on("01-02", "a"), on("01-03", "b")], { journeys: ["j complete at t, 01-02 00:00 – 01-03 00:00: t 01-03 00:00 by b@01-03"] }],
  ["a window in a step is cut off at the start", { journeys: { j: { start: happened("a"), steps: [["t", count("b", "gte", 2, { within: "9d" })]] } } }, [on("01-01", "b"), on("01-02", "a"), on("01-03", "b"), on("01-04", "b")], { journeys: ["j complete at t, 01-02 00:00 – 01-04 00:00: t 01-04 00:00 by b@01-04"] }],
  ["a condition's own start replaces the journey's", { states: { s: [] }, journeys: { j: { start: happened("a"), steps: [["t", happened("b", { since: "state" })]] } } }, [on("01-01", "z"), on("01-02", "b"), on("01-03", "a")], { journeys: ["j complete at t, 01-03 00:00 – 01-03 00:00: t 01-03 00:00 by a@01-03"] }],
  ["days since the last respects the start, since the first does not", { journeys: { j: { start: happened("a"), anyOrder: true, steps: [["first", daysSince("first", "b", "gte", 1)], ["last", daysSince("last", "b", "gte", 1)]] } } }, [on("01-01", "b"), on("01-03", "a")], { journeys: ["j active at last, 01-03 00:00 – …: first 01-03 00:00 by a@01-03"] }],
  ["a sequence in a step lies after the start", { journeys: { j: { start: happened("go"), steps: [["t", sequence("a", "b", "9d")]] } } }, [on("01-01", "a"), on("01-02", "go"), on("01-03", "b"), on("01-04", "a"), on("01-05", "b")], { journeys: ["j complete at t, 01-02 00:00 – 01-05 00:00: t 01-05 00:00 by b@01-05"] }],
  ["a run is active until just before its expiry", { journeys: { j: { start: happened("a"), expiresAfter: "2d", steps: [["t", happened("b")]] } } }, [on("01-01", "a"), on("01-02 23:59:59.999", "b")], { journeys: ["j complete at t, 01-01 00:00 – 01-02 23:59:59.999: t 01-02 23:59:59.999 by b@01-02 23:59:59.999"] }],
  ["expiry precedes a step of the same instant, also one completed by time", { journeys: { j: { start: happened("a"), expiresAfter: "2d", steps: [["t", inactiveFor("2d")]] } } }, [on("01-01", "a"), tick("01-05")], { journeys: ["j expired at t, 01-01 00:00 – 01-03 00:00"] }],
  ["a completed step stays completed", { journeys: { j: { start: happened("a"), steps: [["t", activeWithin("1d")]] } } }, [on("01-01", "a"), tick("01-05"), on("01-06", "a")], { journeys: ["j complete at t, 01-01 00:00 – 01-01 00:00: t 01-01 00:00 by a@01-01"] }],
  ["a new run starts on operations after the end of the last", { journeys: { j: { start: happened("a"), repeat: true, steps: [["t", happened("b")]] } } }, [on("01-01", "a"), on("01-02", "a"), on("01-03", "b"), on("01-04", "c"), on("01-05", "a")], { journeys: ["j active at t, 01-05 00:00 – …"], emissions: ["journey.started (j) 01-01 00:00 by a@01-01", "journey.step_completed (j t) 01-03 00:00 by b@01-03", "journey.completed (j) 01-03 00:00 by b@01-03", "journey.started (j) 01-05 00:00 by a@01-05"] }],
  ["a new run starts on operations after the end of the last, even if its start condition has its own start", { states: { s: [] }, journeys: { j: { start: happened("a", { since: "state" }), repeat: true, expiresAfter: "1d", steps: [["t", happened("b")]] } } }, [on("01-01", "z"), on("01-02", "a"), tick("01-09"), on("01-10", "a")], { emissions: ["customer.created (null→s) 01-01 00:00 by z@01-01", "journey.started (j) 01-02 00:00 by a@01-02", "journey.expired (j) 01-03 00:00 by timer", "journey.started (j) 01-10 00:00 by a@01-10"] }],
  ["an expired run repeats like a completed one", { journeys: { j: { start: happened("a"), repeat: true, expiresAfter: "1d", steps: [["t", happened("b")]] } } }, [on("01-01", "a"), on("01-02", "a"), on("01-02 01:00", "a")], { emissions: ["journey.started (j) 01-01 00:00 by a@01-01", "journey.expired (j) 01-02 00:00 by timer", "journey.started (j) 01-02 00:00 by a@01-02"], journeys: ["j active at t, 01-02 00:00 – …"] }],
  ["a step can be completed by time and by traits", { journeys: { j: { start: happened("a"), steps: [["t", inactiveFor("1d")], ["u", trait("plan", "eq", "pro")]] } } }, [on("01-01", "a"), identify("01-04", { plan: "pro" })], { journeys: ["j complete at u, 01-01 00:00 – 01-04 00:00: t 01-02 00:00 by timer, u 01-04 00:00 by identify"] }],
  ["a count since a journey starts at its last run", { segments: { s: happened("b", { since: { journey: "j" } }) }, journeys: { j: { start: happened("a"), repeat: true, steps: [["t", happened("b")]] } } }, [on("01-01", "b"), on("01-02", "a"), on("01-03", "b"), on("01-04", "a")], { segments: ["s out (in 01-03 00:00, out 01-04 00:00)"] }],
  ["only the current step's condition makes the customer due", { journeys: { j: { start: happened("a"), steps: [["t", happened("b")], ["u", inactiveFor("1d")]] } } }, [on("01-01", "a")], { clock: "01-01 00:00, 01-01 00:00, —" }],
  ["in any order, the condition of every unfinished step does", { journeys: { j: { start: happened("a"), anyOrder: true, steps: [["t", happened("b")], ["u", inactiveFor("1d")]] } } }, [on("01-01", "a")], { clock: "01-01 00:00, 01-01 00:00, 01-02 00:00" }],
  ["status and step are conditions", { segments: { none: journeyIs("j", "not_started"), current: atStep("j", "u"), past: stepCompleted("j", "t"), done: journeyIs("j", "complete") }, journeys: { j: { start: happened("a"), steps: [["t", happened("b")], ["u", happened("c")]] } } }, [on("01-01", "z"), on("01-02", "a"), on("01-03", "b"), on("01-04", "c")], { segments: ["none out (in 01-01 00:00, out 01-02 00:00)", "current out (in 01-03 00:00, out 01-04 00:00)", "past in since 01-03 00:00", "done in since 01-04 00:00"] }],
];

// oxfmt-ignore
const health: Row[] = [
  ["scores and the weighted mean are rounded to two decimals", { health: onePerEvent([2, 1]) }, [on("01-01", "a"), on("01-02", "b")], { health: ["22.22 bad 01-01 00:00", "33.33 bad 01-02 00:00"] }],
  ["half a hundredth is rounded up, whatever the doubles on the way lose", { health: { components: [{ id: "c", weight: 1, score: { kind: "scale", of: { kind: "trait", trait: "seats" }, from: 25, to: 5 } }, { id: "d", weight: 3, score: counted("b", 1) }], bands: fresh.bands } }, [identify("01-01", { seats: 13.5 })], { health: ["14.38 bad 01-01 00:00"] }],
  ["the first band is a change from none", { health: fresh }, [on("01-01", "a")], { emissions: ["health.changed (null→good 100) 01-01 00:00 by a@01-01"] }],
  ["no row if no part of the score changed", { health: fresh }, [on("01-01", "a"), on("01-02", "z")], { health: ["100 good 01-01 00:00"] }],
  ["a component that changes makes a row even if the mean stays the same", { health: onePerEvent([0, 1]) }, [on("01-01", "a")], { health: ["0 bad 01-01 00:00"] }],
  ["an absent measure scores 0", { health: { components: [{ id: "c", weight: 1, score: { kind: "steps", of: { kind: "trait", trait: "seats" }, steps: [[5, 80]], otherwise: 90 } }], bands: fresh.bands } }, [on("01-01", "a"), identify("01-02", { seats: 5 }), identify("01-03", { seats: 6 })], { health: ["0 bad 01-01 00:00", "80 good 01-02 00:00", "90 good 01-03 00:00"] }],
  ["an absent measure gets the score that the component defines for it", { health: absently({ kind: "steps", of: { kind: "trait", trait: "seats" }, steps: [[5, 80]], otherwise: 90 }, 60) }, [on("01-01", "a"), identify("01-02", { seats: 5 }), identify("01-03", { seats: null })], { health: ["60 good 01-01 00:00", "80 good 01-02 00:00", "60 good 01-03 00:00"] }],
  ["or is left out of the mean", { health: { ...absently(npsScore, "skip"), components: [...absently(npsScore, "skip").components, { id: "use", weight: 3, score: counted("a", 4) }] } }, [on("01-01", "a"), on("01-02", "nps", { score: 9 }), on("01-03", "a")], { health: ["25 bad 01-01 00:00", "41.25 bad 01-02 00:00", "60 good 01-03 00:00"] }],
  ["without known components there is no score, and a component that becomes unknown ends it", { health: absently({ kind: "steps", of: { kind: "trait", trait: "seats" }, steps: [[5, 80]], otherwise: 90 }, "skip"), segments: { s: healthIs("gte", 0), n: healthIs("ne", 80) } }, [on("01-01", "a"), identify("01-02", { seats: 5 }), identify("01-03", { seats: null })], { health: ["80 good 01-02 00:00", "null null 01-03 00:00"], segments: ["n out (in 01-01 00:00, out 01-02 00:00)", "s out (in 01-02 00:00, out 01-03 00:00)", "n in since 01-03 00:00"], emissions: ["segment.entered (n) 01-01 00:00 by a@01-01", "health.changed (null→good 80) 01-02 00:00 by identify", "segment.entered (s) 01-02 00:00 by identify", "segment.exited (n) 01-02 00:00 by identify", "health.changed (good→null null) 01-03 00:00 by identify", "segment.exited (s) 01-03 00:00 by identify", "segment.entered (n) 01-03 00:00 by identify"] }],
  ["a component with a map is absent if its trait is, but not if the value is not listed", { health: absently({ kind: "map", trait: "plan", values: { pro: 70 } }, "skip") }, [identify("01-01", { plan: "free" }), identify("01-02", { plan: null })], { health: ["0 bad 01-01 00:00", "null null 01-02 00:00"] }],
  ["a value that the map does not list scores 0", { health: { components: [{ id: "c", weight: 1, score: { kind: "map", trait: "plan", values: { pro: 70 } } }], bands: fresh.bands } }, [identify("01-01", { plan: "pro" }), identify("01-02", { plan: "free" })], { health: ["70 good 01-01 00:00", "0 bad 01-02 00:00"] }],
  ["a scale may fall, and is constant outside its ends", { health: { components: [{ id: "c", weight: 1, score: { kind: "scale", of: { kind: "count", of: of("a") }, from: 2, to: 0 } }], bands: fresh.bands } }, [on("01-01", "b"), on("01-02", "a"), on("01-03", "a"), on("01-04", "a")], { health: ["100 good 01-01 00:00", "50 good 01-02 00:00", "0 bad 01-03 00:00"] }],
  ["not read: refreshed at the first minute of the customer's day at or after the change", { health: fresh }, [on("01-01 05:30", "a"), tick("02-01")], { health: ["100 good 01-01 05:30", "0 bad 01-03 05:30"], clock: "01-03 05:30, 01-01 05:30, —" }],
  ["not read: an event before the refresh scores it", { health: fresh }, [on("01-01 00:00", "a"), on("01-03 02:00", "z"), tick("02-01")], { health: ["100 good 01-01 00:00", "0 bad 01-03 02:00"], clock: "01-03 02:00, 01-03 02:00, —" }],
  ["read by a condition: scored at each change", { health: fresh, segments: { s: inBand("bad") } }, [on("01-01", "a"), tick("02-01")], { health: ["100 good 01-01 00:00", "0 bad 01-03 00:00"], segments: ["s in since 01-03 00:00"] }],
  ["until there is a score, no comparison with it holds", { health: fresh, segments: { s: any(healthIs("lt", 50), healthIs("gte", 50)) } }, [on("01-01", "a")], { segments: ["s in since 01-01 00:00"], emissions: ["health.changed (null→good 100) 01-01 00:00 by a@01-01", "segment.entered (s) 01-01 00:00 by a@01-01"] }],
  ["until there is a score, a negated comparison with it holds", { states: { s: [["t", healthIs("ne", 50)]], t: [] }, health: { components: [{ id: "c", weight: 1, score: { kind: "scale", of: { kind: "count", of: of("b"), since: "state" }, from: 0, to: 1 } }], bands: fresh.bands } }, [on("01-01", "a")], { emissions: ["customer.created (null→s)", "customer.t (s→t)", "health.changed (null→bad 0)"].map((text) => `${text} 01-01 00:00 by a@01-01`) }],
  ["a rule's condition also counts as reading health", { health: fresh, rules: { r: rule("z", emit("x"), { when: healthIs("lt", 50, "fresh") }) } }, [on("01-01", "a"), tick("01-03")], { health: ["100 good 01-01 00:00", "0 bad 01-03 00:00"] }],
];

// oxfmt-ignore
const rules: Row[] = [
  ["the condition is checked before the cooldown", { rules: { r: rule("a", emit("x"), { when: not(happened("b")), cooldown: "9d" }) } }, [on("01-01", "a"), on("01-02", "a"), on("01-03", "b"), on("01-04", "a")], { rules: ["r pass 01-01 00:00 (event:a)", "r skip 01-02 00:00 (event:a)", "r fail 01-04 00:00 (event:a)"] }],
  ["a cooldown ends at its instant, and a skip does not renew it", { rules: { r: rule("a", emit("x"), { cooldown: "2d" }) } }, [on("01-01", "a"), on("01-02 23:59:59.999", "a"), on("01-03", "a")], { rules: ["r pass 01-01 00:00 (event:a)", "r skip 01-02 23:59:59.999 (event:a)", "r pass 01-03 00:00 (event:a)"] }],
  ["a rule with `once` passes once, after any number of fails", { rules: { r: rule("a", emit("x"), { once: true, when: count("a", "gte", 2) }) } }, [on("01-01", "a"), on("01-02", "a"), on("01-03", "a")], { rules: ["r fail 01-01 00:00 (event:a)", "r pass 01-02 00:00 (event:a)", "r skip 01-03 00:00 (event:a)"] }],
  ["a rule that becomes `once` in a new version has already passed", { rules: { r: rule("a", emit("x")) } }, [on("01-01", "a"), ["version", snapshotOf({ rules: { r: rule("a", emit("x"), { once: true }) } })], on("01-02", "a")], { rules: ["r pass 01-01 00:00 (event:a)", "r skip 01-02 00:00 (event:a)"] }],
  ["an event trigger can filter", { rules: { r: rule({ kind: "event", of: of("a", { kind: "exists", property: "x" }) }, emit("x")) } }, [on("01-01", "a"), on("01-02", "a", { x: 1 })], { rules: ["r pass 01-02 00:00 (event:a)"] }],
  ["leaving a segment by time triggers", { segments: { s: activeWithin("1d") }, rules: { r: rule({ kind: "segmentExited", segment: "s" }, emit("x")) } }, [on("01-01", "a"), tick("01-05")], { rules: ["r pass 01-02 00:00 (segment.exited:s)"], emissions: ["segment.entered (s) 01-01 00:00 by a@01-01", "segment.exited (s) 01-02 00:00 by timer", "x (r) 01-02 00:00 by timer"] }],
  ["raising and clearing a signal trigger", { signals: { w: { when: inactiveFor("1d") } }, rules: { r: rule({ kind: "signalRaised", signal: "w" }, emit("x")), c: rule({ kind: "signalCleared", signal: "w" }, emit("y")) } }, [on("01-01", "a"), on("01-03", "a")], { rules: ["r pass 01-02 00:00 (signal.raised:w)", "c pass 01-03 00:00 (signal.cleared:w)"] }],
  ["a segment entered by a rule's action triggers another rule", { segments: { g: null }, rules: { second: rule({ kind: "segmentEntered", segment: "g" }, emit("x")), first: rule("a", addTo("g")) } }, [on("01-01", "a")], { rules: ["first pass 01-01 00:00 (event:a)", "second pass 01-01 00:00 (segment.entered:g)"] }],
  ["an action that changes nothing passes and emits nothing", { segments: { g: null }, rules: { r: rule("a", addTo("g")) } }, [on("01-01", "a"), on("01-02", "a")], { rules: ["r pass 01-01 00:00 (event:a)", "r pass 01-02 00:00 (event:a)"], segments: ["g in since 01-01 00:00"], emissions: ["segment.entered (g) 01-01 00:00 by a@01-01"] }],
  ["entering and exiting a state trigger, each with its transition, and so does entering the initial state", { states: { new: [["trial", happened("a")]], trial: [] }, rules: { first: rule({ kind: "stateEntered", state: "new" }, emit("x")), out: rule({ kind: "stateExited", state: "new" }, emit("x")), in: rule({ kind: "stateEntered", state: "trial" }, emit("x")) } }, [on("01-01", "a"), on("01-02", "a")], { rules: ["first pass 01-01 00:00 (lifecycle.entered:new)", "out pass 01-01 00:00 (lifecycle.exited:new)", "in pass 01-01 00:00 (lifecycle.entered:trial)"] }],
  ["entering a state by time triggers at that instant", { states: { active: [["at_risk", inactiveFor("2d")]], at_risk: [["active", activeWithin("1d")]] }, rules: { r: rule({ kind: "stateEntered", state: "at_risk" }, emit("x")) } }, [on("01-01", "a"), on("01-04", "a"), tick("01-09")], { rules: ["r pass 01-03 00:00 (lifecycle.entered:at_risk)", "r pass 01-06 00:00 (lifecycle.entered:at_risk)"] }],
  ["a state passed through at one instant was entered and exited", { states: { s: [["t", happened("a")]], t: [["u", happened("a")]], u: [] }, rules: { r: rule({ kind: "stateEntered", state: "t" }, emit("x")), e: rule({ kind: "stateExited", state: "t" }, emit("y")) } }, [on("01-01", "a")], { rules: ["r pass 01-01 00:00 (lifecycle.entered:t)", "e pass 01-01 00:00 (lifecycle.exited:t)"] }],
  ["a blocked transition triggers nothing until it is taken", { states: { s: [["t", happened("a")]], t: [["s", happened("a")]] }, rules: { r: rule({ kind: "stateEntered", state: "s" }, emit("x")) } }, [on("01-01", "a"), on("01-02", "z")], { rules: ["r pass 01-01 00:00 (lifecycle.entered:s)", "r pass 01-02 00:00 (lifecycle.entered:s)"] }],
  ["each change of a journey triggers", { journeys: { j: { start: happened("a"), steps: [["t", happened("b")], ["u", happened("c")]] } }, rules: { s: rule({ kind: "journeyStarted", journey: "j" }, emit("x")), t: rule({ kind: "journeyStepCompleted", journey: "j", step: "t" }, emit("x")), u: rule({ kind: "journeyStepCompleted", journey: "j", step: "u" }, emit("x")), c: rule({ kind: "journeyCompleted", journey: "j" }, emit("x")), e: rule({ kind: "journeyExpired", journey: "j" }, emit("x")) } }, [on("01-01", "a"), on("01-02", "b"), on("01-03", "c")], { rules: ["s pass 01-01 00:00 (journey.started:j)", "t pass 01-02 00:00 (journey.step_completed:j.t)", "u pass 01-03 00:00 (journey.step_completed:j.u)", "c pass 01-03 00:00 (journey.completed:j)"] }],
  ["an expiry triggers at its instant, before an event that comes later, and in each run", { journeys: { j: { start: happened("a"), repeat: true, expiresAfter: "2d", steps: [["t", happened("b")]] } }, rules: { r: rule({ kind: "journeyExpired", journey: "j" }, emit("x")) } }, [on("01-01", "a"), on("01-05", "a"), tick("01-09")], { rules: ["r pass 01-03 00:00 (journey.expired:j)", "r pass 01-07 00:00 (journey.expired:j)"] }],
  ["entering and exiting a band trigger, also the first one", { health: onePerEvent([0, 1]), rules: { first: rule({ kind: "bandEntered", band: "bad" }, emit("x")), out: rule({ kind: "bandExited", band: "bad" }, emit("x")), in: rule({ kind: "bandEntered", band: "good" }, emit("x")) } }, [on("01-01", "a"), on("01-02", "b"), on("01-03", "b")], { rules: ["first pass 01-01 00:00 (health.entered:bad)", "out pass 01-03 00:00 (health.exited:bad)", "in pass 01-03 00:00 (health.entered:good)"] }],
  ["a band that no condition reads triggers only when health is scored", { health: fresh, rules: { r: rule({ kind: "bandEntered", band: "bad" }, emit("x")) } }, [on("01-01 05:30", "a"), tick("02-01")], { health: ["100 good 01-01 05:30", "0 bad 01-03 05:30"], rules: ["r pass 01-03 05:30 (health.entered:bad)"], clock: "01-03 05:30, 01-01 05:30, —" }],
  ["a band that a condition reads triggers at the instant of the change", { health: fresh, segments: { s: inBand("bad") }, rules: { r: rule({ kind: "bandEntered", band: "bad" }, emit("x")) } }, [on("01-01", "a"), tick("02-01")], { rules: ["r pass 01-03 00:00 (health.entered:bad)"] }],
  ["an action can move the lifecycle, which triggers rules in the same evaluation", { states: { s: [["t", inSegment("g")]], t: [] }, segments: { g: null }, rules: { tell: rule({ kind: "stateExited", state: "s" }, emit("x")), mark: rule("a", addTo("g")) } }, [on("01-01", "a")], { rules: ["mark pass 01-01 00:00 (event:a)", "tell pass 01-01 00:00 (lifecycle.exited:s)"] }],
  ["a rule's condition makes nothing due", { rules: { r: rule("b", emit("x"), { when: inactiveFor("1d") }) } }, [on("01-01", "a"), tick("02-01")], { clock: "01-01 00:00, 01-01 00:00, —" }],
];

// oxfmt-ignore
const signals: Row[] = [
  ["an event that leaves the condition true does not raise the signal again", { signals: { w: { when: happened("a"), severity: "critical", message: "look" } } }, [on("01-01", "a"), on("01-02", "a")], { signals: ["w raised 01-01 00:00"], emissions: ["signal.raised (w critical look) 01-01 00:00 by a@01-01"] }],
  ["a signal raised by a rule stays until a rule clears it", { signals: { w: {} }, rules: { up: rule("a", raise("w")), down: rule("b", clear("w")) } }, [on("01-01", "a"), on("01-09", "b"), on("01-10", "b")], { signals: ["w cleared (raised 01-01 00:00) 01-09 00:00"], clock: "01-10 00:00, 01-10 00:00, —" }],
  ["or clears itself some time after the latest raise, which emits nothing", { signals: { w: { for: "2d" } }, rules: { up: rule("a", raise("w")) } }, [on("01-01", "a"), on("01-02", "a"), tick("02-01")], { signals: ["w cleared (raised 01-01 00:00) 01-04 00:00"], emissions: ["signal.raised (w warning) 01-01 00:00 by a@01-01", "signal.cleared (w warning) 01-04 00:00 by timer"] }],
  ["the timer clears a signal before an event of the same instant raises it again", { signals: { w: { for: "2d" } }, rules: { up: rule("a", raise("w")) } }, [on("01-01", "a"), on("01-03", "a")], { signals: ["w cleared (raised 01-01 00:00) 01-03 00:00", "w raised 01-03 00:00"] }],
];

// oxfmt-ignore
const numbers: Row[] = [
  ["a sum is exact in decimals", { segments: { s: aggregate("sum", ["a", "x"], "eq", 0.3) } }, [on("01-01", "a", { x: 0.1 }), on("01-02", "a", { x: 0.2 })], { segments: ["s in since 01-02 00:00"] }],
  ["a sum is exact after a large number has left the window", { segments: { s: aggregate("sum", ["a", "x"], "eq", 0.1, { within: "1d" }) } }, [on("01-01 00:00", "a", { x: 1e21 }), on("01-01 12:00", "a", { x: 0.1 }), tick("01-02")], { segments: ["s in since 01-02 00:00"] }],
  ["days since are whole days", { segments: { s: daysSince("last", "a", "eq", 1) } }, [on("01-01 12:00", "a"), tick("02-01")], { segments: ["s out (in 01-02 12:00, out 01-03 12:00)"] }],
];

// oxfmt-ignore
const versions: Row[] = [
  ["derived state and the due instant stay until the first evaluation", { segments: { s: happened("a", { within: "7d" }) } }, [on("01-01", "a"), ["version", snapshotOf({ segments: { s: happened("a", { within: "2d" }) } })], tick("01-05")], { segments: ["s in since 01-01 00:00"], clock: "01-01 00:00, 01-01 00:00, 01-08 00:00" }],
  ["the first evaluation happens at that instant", { segments: { s: happened("a", { within: "7d" }) } }, [on("01-01", "a"), ["version", snapshotOf({ segments: { s: happened("a", { within: "2d" }) } })], tick("01-09")], { segments: ["s out (in 01-01 00:00, out 01-08 00:00)"] }],
  ["or at the next operation, over the retained events", { segments: { s: happened("a") } }, [on("01-01", "a"), on("01-02", "a"), ["version", snapshotOf({ segments: { s: happened("a"), two: count("a", "gte", 2), three: count("a", "gte", 3) } })], on("01-03", "z")], { segments: ["s in since 01-01 00:00", "two in since 01-03 00:00"] }],
  ["an identify also waits for that evaluation", {}, [on("01-01", "a"), ["version", snapshotOf({ segments: { s: dateWithin("renewsOn", "7d") } })], identify("01-05", { renewsOn: "2026-01-20" })], { clock: "01-05 00:00, 01-01 00:00, 01-13 00:00" }],
  ["an expiry that the new version makes overdue happens at the first evaluation", { journeys: { j: { start: happened("a"), steps: [["t", happened("b")]] } } }, [on("01-01", "a"), ["version", snapshotOf({ journeys: { j: { start: happened("a"), expiresAfter: "1d", steps: [["t", happened("b")]] } } })], on("01-05", "b")], { journeys: ["j expired at t, 01-01 00:00 – 01-05 00:00"] }],
  ["a step since the previous one counts from the one before it, not from a later one that the former version completed", { journeys: { j: { start: happened("a"), anyOrder: true, steps: [["u", happened("x")], ["w", happened("c")]] } } }, [on("01-01", "a"), on("01-02", "c"), on("01-02 12:00", "b"), ["version", snapshotOf({ journeys: { j: { start: happened("a"), steps: [["u", happened("x")], ["v", happened("b"), "previousStep"], ["w", happened("c")]] } } })], on("01-03", "x")], { journeys: ["j active at v, 01-01 00:00 – …: u 01-03 00:00 by x@01-03, w 01-02 00:00 by c@01-02"] }],
  ["a state, a run or a band first derived by a new version triggers nothing", { states: { s: [] }, journeys: { j: { start: happened("a"), steps: [["t", happened("b")]] } }, health: fresh }, [on("01-01", "a"), ["version", snapshotOf({ states: { s: [] }, journeys: { j: { start: happened("a"), steps: [["t", happened("b")]] } }, health: fresh, rules: { s: rule({ kind: "stateEntered", state: "s" }, emit("x")), j: rule({ kind: "journeyStarted", journey: "j" }, emit("x")), b: rule({ kind: "bandEntered", band: "good" }, emit("x")) } })], on("01-02", "a")], { rules: [] }],
  ["health that no condition reads is not scored when the first evaluation is a timer", { segments: { s: inactiveFor("9d") } }, [on("01-01", "a"), ["version", snapshotOf({ segments: { s: inactiveFor("9d") }, health: fresh })], tick("01-10")], { health: [], segments: ["s in since 01-10 00:00"], clock: "01-10 00:00, 01-01 00:00, —" }],
];

// oxfmt-ignore
const replays: Row[] = [
  ["trait-triggered rules run once, when the traits last changed", { rules: { r: rule({ kind: "traitsChanged" }, emit("x")) } }, [on("01-01", "a"), identify("01-02", { plan: "free" }), identify("01-03", { plan: "pro" }), ["replay", "01-09"]], { rules: ["r pass 01-02 00:00 (traits)", "r pass 01-03 00:00 (traits)"], replay: { rules: ["r pass 01-03 00:00 (traits)"] } }],
  ["other rules run where their trigger occurs in the history", { states: { s: [["t", inactiveFor("2d")]], t: [["s", activeWithin("1d")]] }, rules: { r: rule({ kind: "stateEntered", state: "t" }, emit("x")) } }, [on("01-01", "z"), shifted("01-02", "01-01 12:00", "a"), on("01-09", "a"), ["replay", "01-09"]], { rules: ["r pass 01-03 12:00 (lifecycle.entered:t)"], replay: { rules: ["r pass 01-03 12:00 (lifecycle.entered:t)"] } }],
  ["begins at the customer's creation if that is before the first event", { states: { s: [["quiet", inactiveFor("2d")]], quiet: [] } }, [identify("01-01", { plan: "free" }), on("01-09", "a"), ["replay", "01-09"]], { replay: { transitions: ["null→s 01-01 00:00 by identify", "s→quiet 01-03 00:00 by timer"] } }],
  ["corrections are ordered: state, journeys, segments, band, signals", { states: { s: [["t", journeyIs("j", "complete")]], t: [] }, journeys: { j: { start: happened("a"), expiresAfter: "1d", steps: [["u", happened("b")]] } }, segments: { g: journeyIs("j", "complete") }, health: { components: [{ id: "c", weight: 1, score: { kind: "scale", of: { kind: "count", of: of("b"), since: "state" }, from: 0, to: 1 } }], bands: fresh.bands }, signals: { w: { when: journeyIs("j", "complete") } } }, [on("01-01", "a"), on("01-05", "z"), shifted("01-06", "01-01 06:00", "b"), ["replay", "01-09"]], { replay: { corrections: ["customer.t (s→t)", "journey.completed (j)", "segment.entered (g)", "health.changed (good→bad 0)", "signal.raised (w warning)"].map((text) => `${text} 01-09 00:00 by job`) } }],
  ["a journey that expired is neither withdrawn nor repeated", { journeys: { j: { start: happened("a"), expiresAfter: "1d", steps: [["t", happened("b")]] } } }, [on("01-01", "a"), tick("01-05"), ["replay", "01-09"]], { replay: { corrections: [], journeys: ["j expired at t, 01-01 00:00 – 01-02 00:00"] } }],
];

const day = { within: "1d" };
const usage = number("a", day);
const before = number("a", { ...day, previous: true });
const net = minus(number(["add", "x"]), number(["remove", "x"]));
const twoEach = [on("01-01", "a"), on("01-01", "b"), on("01-01 12:00", "a"), on("01-01 12:00", "b")];

// oxfmt-ignore
const calculations: Row[] = [
  ["the window before is (t - 2w, t - w]", { segments: { s: { ...number("a", { ...day, previous: true }), operator: "gte", value: 1 } } }, [on("01-01", "a"), tick("02-01")], { segments: ["s out (in 01-02 00:00, out 01-03 00:00)"] }],
  ["an average of the window before is absent where that is empty", { segments: { s: { ...aggregate("avg", ["a", "x"], "lte", 2, day), previous: true } } }, [on("01-01", "a", { x: 1 }), on("01-01 06:00", "a", { x: 3 }), tick("02-01")], { segments: ["s out (in 01-02 00:00, out 01-03 00:00)"] }],
  ["usage compared with the window before changes at the exact instant, and has no ratio if there was none before", { segments: { half: compared(per(usage, before), "lte", 0.5) } }, [on("01-01", "a"), on("01-01 13:00", "a"), on("01-02 01:00", "a"), on("01-02 12:00", "a"), tick("02-01")], { segments: ["half out (in 01-03 01:00, out 01-04 12:00)"] }],
  ["a ratio per trait also changes when the trait changes", { segments: { s: compared(per(number(["a", "x"], { within: "2d" }), traitNumber("seats")), "gte", 2) } }, [identify("01-01", { seats: 2 }), on("01-01", "a", { x: 4 }), identify("01-01 12:00", { seats: 4 }), identify("01-02", { seats: 1 }), tick("02-01")], { segments: ["s out (in 01-01 00:00, out 01-01 12:00)", "s out (in 01-02 00:00, out 01-03 00:00)"] }],
  ["with an absent or zero divisor there is no ratio: a comparison is false, its negation true", { segments: { s: compared(per(number("a"), traitNumber("seats")), "gte", 0), n: not(compared(per(number("a"), traitNumber("seats")), "gte", 0)), ne: compared(per(number("a"), traitNumber("seats")), "ne", 7) } }, [on("01-01", "a"), identify("01-02", { seats: 0 }), identify("01-03", { seats: 1 })], { segments: ["n out (in 01-01 00:00, out 01-03 00:00)", "ne in since 01-01 00:00", "s in since 01-03 00:00"] }],
  ["a difference is exact in decimals", { segments: { s: compared(net, "eq", 0.1) } }, [on("01-01", "add", { x: 0.3 }), on("01-02", "remove", { x: 0.2 })], { segments: ["s in since 01-02 00:00"] }],
  ["net seats per licence", { segments: { s: compared(per(net, traitNumber("licences")), "gte", 1) } }, [identify("01-01", { licences: 10 }), on("01-01", "add", { x: 12 }), on("01-02", "remove", { x: 2 }), on("01-03", "remove", { x: 1 })], { segments: ["s out (in 01-01 00:00, out 01-03 00:00)"] }],
  ["both windows move: the ratio can change whenever one of them does", { segments: { more: compared(per(number("a", { within: "3d" }), number("b", { within: "3d" })), "gte", 1.5), less: compared(per(number("a", { within: "3d" }), number("b", { within: "3d" })), "lte", 1) } }, [on("01-01", "a"), on("01-02", "a"), on("01-02", "b"), tick("02-01")], { segments: ["more out (in 01-02 00:00, out 01-04 00:00)", "less out (in 01-04 00:00, out 01-05 00:00)"] }],
  ["occurrences that leave both windows at once without changing the ratio make nothing due", { segments: { s: compared(per(usage, number("b", day)), "eq", 1) } }, twoEach, { segments: ["s out (in 01-01 00:00, out 01-01 12:00)", "s in since 01-01 12:00"], clock: "01-01 12:00, 01-01 12:00, 01-02 12:00" }],
  ["in a step operands count from the start of the journey", { journeys: { j: { start: happened("go"), steps: [["t", compared(minus(number("a"), number("b")), "gte", 1)]] } } }, [on("01-01", "a"), on("01-02", "go"), on("01-03", "b"), on("01-04", "a"), on("01-05", "a")], { journeys: ["j complete at t, 01-02 00:00 – 01-05 00:00: t 01-05 00:00 by a@01-05"] }],
  ["or from a start of their own", { states: { s: [["t", happened("go")]], t: [] }, segments: { s: compared(minus(number("a", { since: "state" }), number("b")), "gte", 1) } }, [on("01-01", "a"), on("01-02", "go"), on("01-03", "a")], { segments: ["s in since 01-03 00:00"] }],
  ["a component whose ratio is absent scores 0", { health: healthOf({ trend: { kind: "scale", of: per(usage, before), from: 0, to: 1 } }, { good: 50, bad: 0 }) }, [on("01-01", "a"), on("01-02", "a"), on("01-02 12:00", "b")], { health: ["0 bad 01-01 00:00", "100 good 01-02 00:00"] }],
];

describe.each([
  { judge: "engine", create: underEngine },
  { judge: "reference", create: underReference },
])("the specification, under the $judge", ({ create }) => {
  describe.each([
    { part: "the customer's clock", rows: clock },
    { part: "one evaluation", rows: evaluation },
    { part: "lifecycle", rows: lifecycle },
    { part: "journeys", rows: journeys },
    { part: "health", rows: health },
    { part: "rules", rows: rules },
    { part: "signals", rows: signals },
    { part: "numbers", rows: numbers },
    { part: "ratios and differences", rows: calculations },
    { part: "another version", rows: versions },
    { part: "replay", rows: replays },
  ])("$part", ({ rows }) => {
    it.each(rows)("%s", (_, parts, steps, { replay, ...expected }) => {
      const customer = new LiveCustomer(create, snapshotOf(parts), steps);
      expect(customer.outcome()).toMatchObject(expected);
      if (replay !== undefined) expect(customer.replays[0]).toMatchObject(replay);
    });
  });
});
