/**
 * What the type checker must refuse, and what it must accept beyond what the tests of this folder write. Never run: `npm run types` checks it,
 * and an `@ts-expect-error` above a line without an error is an error itself.
 */
import {
  activeWithin,
  all,
  any,
  daysSince,
  event,
  inactiveFor,
  inState,
  sequence,
  array,
  boolean,
  date,
  number,
  oneOf,
  string,
  traits,
  defineModel,
  display,
  health,
  journey,
  lifecycle,
  rule,
  scale,
  segment,
  signal,
  step,
  addTo,
  clear,
  emit,
  raise,
  removeFrom,
  type ManualSegment,
  type ManualSignal,
} from "svc-success";
import * as circular from "./circle.js";

const created = event("project created", {
  template: string().optional(),
  seats: number(),
  source: oneOf("web", "api"),
  paid: boolean(),
  day: date(),
  tags: array(oneOf("a", "b")),
  sizes: array(number()),
});
const login = event("login");
const customer = traits({
  plan: oneOf("free", "pro"),
  seats: number().optional(),
  renewsOn: date(),
  country: string(),
  addOns: array(string()),
});
const stages = lifecycle({
  initial: "new",
  states: {
    new: { to: { active: created.happened() } },
    active: { to: { quiet: inactiveFor("7d"), new: () => powerUsers.has() } },
    quiet: { to: { active: activeWithin("3d"), gone: inState().atLeast("60d") } },
    gone: { terminal: true },
  },
});
const powerUsers = segment("power_users", { when: created.count().atLeast(3).within("30d") });

// Conditions: each scope once.
// @ts-expect-error a scope can be given only once
created.count().within("30d").atLeast(3).within("7d");
// @ts-expect-error a count within a window cannot also be since the state
created.count().within("30d").since("state");
// @ts-expect-error a count is not a condition before it is compared
all(created.count());
// @ts-expect-error not a duration
created.count().within("30 days");
// @ts-expect-error months have no fixed length
inactiveFor("1mo");
// @ts-expect-error only "state" or a journey is allowed
created.happened().since("journey");
// @ts-expect-error an event is not a condition
all(created);

// Properties.
created.where((p) => all(p.sizes.contains(3), any(p.template.contains("x"), p.source.in("web", "api"))));
// @ts-expect-error misspelt property
created.where((p) => p.seets.atLeast(5));
// @ts-expect-error a number has no `is`
created.where((p) => p.seats.is(5));
// @ts-expect-error a number is compared with numbers
created.where((p) => p.seats.atLeast("5"));
// @ts-expect-error misspelt choice
created.where((p) => p.source.is("wep"));
// @ts-expect-error misspelt choice in a list
created.where((p) => p.source.in("web", "apy"));
// @ts-expect-error misspelt item
created.where((p) => p.tags.contains("c"));
// @ts-expect-error a condition on the customer is not one on properties
created.where(() => customer.plan.is("pro"));
// @ts-expect-error only traits can be compared with the current time
created.where((p) => p.day.within("3d"));
// @ts-expect-error the two kinds of conditions do not mix
created.where((p) => all(p.paid.is(true), inactiveFor("3d")));
// @ts-expect-error an event without properties has none to compare
login.where((p) => p.anything.exists());

// Traits.
all(customer.country.contains("D"), customer.addOns.contains("sso"), customer.renewsOn.is("2026-01-01"));
// @ts-expect-error misspelt trait
customer.plann.is("free");
// @ts-expect-error misspelt trait value
customer.plan.is("fre");
// @ts-expect-error misspelt trait value in a list
customer.plan.notIn("free", "prro");
// @ts-expect-error dates are compared with texts
customer.renewsOn.before(2026);

// Lifecycle.
// @ts-expect-error misspelt state
stages.is("actve");
// @ts-expect-error misspelt state
stages.entered("actve");
// @ts-expect-error misspelt state
stages.exited("actve");
// @ts-expect-error entering a state is a trigger, not a condition
all(stages.entered("active"));
// @ts-expect-error misspelt initial state
lifecycle({ initial: "nw", states: { new: {}, old: {} } });
// @ts-expect-error misspelt target
lifecycle({ initial: "new", states: { new: { to: { odl: login.happened() } }, old: {} } });
// @ts-expect-error a state cannot have a transition to itself
lifecycle({ initial: "new", states: { new: { to: { new: login.happened() } }, old: {} } });
// @ts-expect-error a terminal state has no transitions
lifecycle({ initial: "new", states: { new: {}, old: { terminal: true, to: { new: login.happened() } } } });
// @ts-expect-error a target needs a condition
lifecycle({ initial: "new", states: { new: { to: { old: true } }, old: {} } });
// @ts-expect-error misspelt target
lifecycle({ initial: "new", states: { new: {}, old: {} }, anyState: { to: { odl: login.happened() } } });
// @ts-expect-error misspelt exception
lifecycle({ initial: "new", states: { new: {}, old: {} }, anyState: { to: {}, except: ["nw"] } });
// @ts-expect-error transitions need a target
lifecycle({ initial: "new", states: { new: {}, old: {} }, anyState: { except: ["new"] } });

// Segments are values: a misspelt one is a name that does not exist.
// @ts-expect-error misspelt segment
powerUser.has(); // oxlint-disable-line no-undef -- that is the mistake
// @ts-expect-error a condition, not a text
segment("x", { when: "always" });

// Aggregates: only properties of a type that allows them.
all(created.distinct("day").since("state").atMost(5), created.latest("tags").contains("a"));
// @ts-expect-error misspelt property
created.sum("seets");
// @ts-expect-error a text cannot be summed
created.sum("template");
// @ts-expect-error a date has no average
created.avg("day");
// @ts-expect-error lists cannot be counted as distinct values
created.distinct("tags");
// @ts-expect-error misspelt property
created.latest("tempalte");
// @ts-expect-error misspelt choice
created.latest("source").is("wep");
// @ts-expect-error a number has no `is`
created.latest("seats").is(5);
// @ts-expect-error a scope can be given only once
created.sum("seats").within("30d").atLeast(3).since("state");
// @ts-expect-error a sum is not a condition before it is compared
all(created.sum("seats"));
// @ts-expect-error an event without properties has none to sum
login.sum("seats");
// @ts-expect-error an event without properties has no latest one
login.latest("seats");

// Days and sequences.
// @ts-expect-error days cannot have a scope
daysSince(login).within("7d");
// @ts-expect-error days of an event, not of a condition
daysSince(login.happened());
// @ts-expect-error a sequence needs a maximum distance
all(sequence(login, created));
// @ts-expect-error a sequence needs two events
sequence(login, powerUsers);
// @ts-expect-error a number cannot pass like a date
customer.seats.passed();
// @ts-expect-error a text cannot come near like a date
customer.plan.within("3d");

// Journeys: the names of steps and statuses are known.
const onboarding = journey("onboarding", {
  start: login.happened(),
  steps: [step("create", created.happened()), step("invite", () => created.count().atLeast(2))],
});
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
journey("x", { steps: [step("a", login.happened())] });
// @ts-expect-error steps are made by step(…)
journey("x", { start: login.happened(), steps: [login.happened()] });
// @ts-expect-error misspelt member
journey("x", { start: login.happened(), steps: [step("a", login.happened())], expiresIn: "3d" });

// Health: the names of components and bands are known.
const measured = scale(created.latest("seats"), { from: 20, to: 0 });
const score = health({
  components: {
    adoption: { weight: 0.5, score: measured },
    home: { weight: 0, score: customer.country.map({ DE: 100, AT: 90 }) },
  },
  bands: { healthy: 70, at_risk: 40, critical: 0 },
});
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
health({ components: { a: { weight: 1, score: measured, absent: 50 } }, bands: { all: 0 } });
// @ts-expect-error an absent measure is skipped or scores a number
health({ components: { a: { weight: 1, score: measured, absent: "ignore" } }, bands: { all: 0 } });
// @ts-expect-error a component needs a weight
health({ components: { a: { score: measured } }, bands: { all: 0 } });

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
addTo(chosen);
raise(call);
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
const shown = display({ owner: customer.plan });
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

// Parts that all read each other have the same types as without the circle.
// @ts-expect-error misspelt state
circular.stages.is("actvated");
// @ts-expect-error misspelt step
circular.onboarding.atStep("invit");
// @ts-expect-error misspelt component
circular.score.component("usage");
// @ts-expect-error misspelt band
circular.score.band.is("criticl");

// Models.
// @ts-expect-error a segment is not an event
defineModel({ events: [powerUsers] });
// @ts-expect-error an event is not a segment
defineModel({ segments: { created } });
// @ts-expect-error misspelt part
defineModel({ event: [created] });
// @ts-expect-error a list contains scalars
array(array(string()));
// @ts-expect-error only one display
defineModel({ display: [shown] });
// @ts-expect-error a segment is not a journey
defineModel({ journeys: [chosen] });
// @ts-expect-error a journey is not a segment
defineModel({ segments: [onboarding] });
// @ts-expect-error a signal is not a rule
defineModel({ rules: [quiet] });
// @ts-expect-error a rule is not a signal
defineModel({ signals: [rule("x", { on: created, then: emit("x") })] });
// @ts-expect-error a journey is not a lifecycle
defineModel({ lifecycle: onboarding });
// @ts-expect-error a lifecycle's place is not the health's
defineModel({ health: onboarding });
