/**
 * What the type checker must accept and refuse in journeys, health, rules and signals. Never run: types.test.ts checks it.
 */
import {
  addTo,
  all,
  clear,
  date,
  daysSince,
  defineModel,
  display,
  emit,
  event,
  health,
  inactiveFor,
  journey,
  number,
  oneOf,
  raise,
  removeFrom,
  rule,
} from "svc-success";
import { scale, segment, signal, step, steps, string, traits, traitsChanged } from "svc-success";
import type { Condition, ManualSegment, ManualSignal, Score } from "svc-success";

const signedUp = event("signed_up");
const created = event("created", { seats: number(), source: oneOf("web", "api") });
const customer = traits({ plan: oneOf("free", "pro"), seats: number(), country: string(), renewsOn: date() });

// Journeys: the names of steps and statuses are known.
const onboarding = journey("onboarding", {
  start: signedUp.happened(),
  steps: [
    step("create", created.happened()),
    step("invite", () => created.count().atLeast(2), { since: "previousStep" }),
  ],
  anyOrder: false,
  expiresAfter: "30d",
  repeat: true,
});
const a: Condition[] = [
  onboarding.is("active"),
  onboarding.in("complete", "expired"),
  onboarding.isNot("not_started"),
  onboarding.atStep("invite"),
  onboarding.completed("create"),
  created.count().atLeast(2).since(onboarding),
  created.sum("seats").since(onboarding).atLeast(2),
];
// @ts-expect-error misspelt status
onboarding.is("completed");
// @ts-expect-error misspelt step
onboarding.atStep("invit");
// @ts-expect-error misspelt step
onboarding.completed("created");
// @ts-expect-error misspelt step
onboarding.stepCompleted("created");
// @ts-expect-error that a step was completed is a condition, not a trigger
rule("x", { on: onboarding.completed("create"), then: emit("x") });
// @ts-expect-error that a run completes is a trigger, not a condition
segment("x", { when: all(onboarding.completed()) });
// @ts-expect-error a start is "state" or a journey
created.count().since(segment("x"));
// @ts-expect-error a step needs a condition
step("create", created);
// @ts-expect-error misspelt scope
step("create", created.happened(), { since: "lastStep" });
// @ts-expect-error a journey needs a start
journey("x", { steps: [step("a", signedUp.happened())] });
// @ts-expect-error steps are made by step(…)
journey("x", { start: signedUp.happened(), steps: [signedUp.happened()] });
// @ts-expect-error misspelt member
journey("x", { start: signedUp.happened(), steps: [step("a", signedUp.happened())], expiresIn: "3d" });

// Health: the names of components and bands are known.
const score = health({
  components: {
    adoption: { weight: 0.5, score: scale(created.count().within("30d"), { from: 0, to: 20 }) },
    depth: { weight: 1, score: scale(created.latest("seats"), { from: 20, to: 0 }) },
    spread: { weight: 1, score: scale(created.distinct("source").since(onboarding), { from: 0, to: 2 }) },
    silence: {
      weight: 0.3,
      score: steps(
        daysSince(created),
        [
          [2, 100],
          [7, 70],
        ],
        0,
      ),
    },
    size: { weight: 0.1, score: scale(customer.seats, { from: 0, to: 50 }) },
    plan: { weight: 0.2, score: () => customer.plan.map({ free: 30, pro: 70 }) },
    home: { weight: 0, score: customer.country.map({ DE: 100, AT: 90 }) },
  },
  bands: { healthy: 70, at_risk: 40, critical: 0 },
});
const b: Condition[] = [
  score.overall.atLeast(70),
  score.component("adoption").atMost(30),
  score.band.is("critical"),
  score.band.in("healthy", "at_risk"),
  score.band.isNot("healthy"),
];
const c: Score = scale(created.sum("seats"), { from: 0, to: 1 });
// @ts-expect-error misspelt component
score.component("adoptoin");
// @ts-expect-error misspelt band
score.band.is("critcal");
// @ts-expect-error every choice needs a score
customer.plan.map({ free: 30 });
// @ts-expect-error misspelt choice
customer.plan.map({ free: 30, pro: 70, max: 100 });
// @ts-expect-error a date cannot be mapped
customer.renewsOn.map({});
// @ts-expect-error a text is not a measure
scale(customer.country, { from: 0, to: 1 });
// @ts-expect-error the latest text is not a measure
scale(created.latest("source"), { from: 0, to: 1 });
// @ts-expect-error a comparison is not a measure
scale(created.count().atLeast(3), { from: 0, to: 1 });
// @ts-expect-error a component is scored by scale, steps or map
health({ components: { a: { weight: 1, score: created.count() } }, bands: { all: 0 } });
health({ components: { a: { weight: 1, score: c, absent: 50 } }, bands: { all: 0 } });
// @ts-expect-error an absent measure is skipped or scores a number
health({ components: { a: { weight: 1, score: c, absent: "ignore" } }, bands: { all: 0 } });
// @ts-expect-error a component needs a weight
health({ components: { a: { score: c } }, bands: { all: 0 } });

// Segments and signals with a condition are not changed by rules.
const chosen: ManualSegment = segment("chosen");
const derived = segment("derived", { when: inactiveFor("3d") });
const call: ManualSignal = signal("call", { severity: "critical", message: "Call them", for: "3d" });
const quiet = signal("quiet", { severity: "warning", when: () => all(inactiveFor("10d"), chosen.has()) });
// @ts-expect-error misspelt severity
signal("x", { severity: "warn" });
// @ts-expect-error a signal with a condition clears by itself
signal("x", { severity: "info", when: inactiveFor("3d"), for: "3d" });
// @ts-expect-error a segment has a condition or none at all
segment("x", {});

// @ts-expect-error misspelt band
score.entered("god");
// @ts-expect-error misspelt band
score.exited("god");

// Rules.
const rules = [
  rule("a", { on: created, then: addTo(chosen) }),
  rule("b", { on: created.where((p) => p.seats.atLeast(5)), when: derived.has(), then: removeFrom(chosen) }),
  rule("c", { on: traitsChanged, cooldown: "30d", then: emit("plan.changed") }),
  rule("d", { on: derived.entered(), once: true, then: raise(call) }),
  rule("e", { on: quiet.cleared(), when: () => onboarding.is("active"), then: clear(call) }),
  rule("f", { on: chosen.exited(), then: emit("x") }),
  rule("g", { on: call.raised(), then: emit("x") }),
  rule("h", { on: onboarding.started(), then: emit("x") }),
  rule("i", { on: onboarding.stepCompleted("create"), then: emit("x") }),
  rule("j", { on: onboarding.completed(), then: emit("x") }),
  rule("k", { on: onboarding.expired(), then: emit("x") }),
  rule("l", { on: score.entered("healthy"), then: emit("x") }),
  rule("m", { on: score.exited("healthy"), then: emit("x") }),
];
// @ts-expect-error this segment has a condition
addTo(derived);
// @ts-expect-error this segment has a condition
removeFrom(derived);
// @ts-expect-error this signal has a condition
raise(quiet);
// @ts-expect-error this signal has a condition
clear(quiet);
// @ts-expect-error a condition is not a trigger
rule("x", { on: created.happened(), then: emit("x") });
// @ts-expect-error a segment is entered or left
rule("x", { on: derived, then: emit("x") });
// @ts-expect-error only one action
rule("x", { on: created, then: [emit("x"), addTo(chosen)] });
// @ts-expect-error an action is needed
rule("x", { on: created });
// @ts-expect-error a rule that acts once needs no cooldown
rule("x", { on: created, once: true, cooldown: "3d", then: emit("x") });
// @ts-expect-error misspelt member
rule("x", { on: created, if: derived.has(), then: emit("x") });

// Displays: a name and an owner are texts, a renewal is a date.
const shown = display({
  name: customer.country,
  owner: customer.plan,
  renewal: customer.renewsOn,
  show: [customer.seats, customer.plan, customer.renewsOn],
});
// @ts-expect-error a number is not a name
display({ name: customer.seats });
// @ts-expect-error a date is not an owner
display({ owner: customer.renewsOn });
// @ts-expect-error a text is not a renewal
display({ renewal: customer.plan });
// @ts-expect-error a trait, not its name
display({ show: ["seats"] });
// @ts-expect-error a trait, not a condition on it
display({ show: [customer.plan.exists()] });
// @ts-expect-error a property is not a trait
created.where((p) => (display({ show: [p.seats] }), p.seats.exists()));
// @ts-expect-error misspelt member
display({ title: customer.country });

// Models.
export const model = defineModel({
  strictSchema: true,
  events: { signedUp, created },
  traits: customer,
  journeys: [onboarding],
  segments: { chosen, derived },
  health: score,
  rules,
  signals: [quiet, call],
  display: shown,
});
// @ts-expect-error only one display
defineModel({ display: [shown] });
// @ts-expect-error a segment is not a journey
defineModel({ journeys: [chosen] });
// @ts-expect-error a journey is not a segment
defineModel({ segments: [onboarding] });
// @ts-expect-error a signal is not a rule
defineModel({ rules: [quiet] });
// @ts-expect-error a rule is not a signal
defineModel({ signals: rules });
// @ts-expect-error a journey is not a lifecycle
defineModel({ lifecycle: onboarding });
// @ts-expect-error a lifecycle's place is not the health's
defineModel({ health: onboarding });
export const used = [a, b, c];
