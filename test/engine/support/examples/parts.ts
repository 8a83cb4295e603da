import {
  activeWithin,
  addTo,
  all,
  compared,
  count,
  counted,
  emit,
  happened,
  healthOf,
  inactiveFor,
  inSegment,
  lately,
  not,
  number,
  per,
  property,
  rule,
  snapshotOf,
  trait,
  traitNumber,
  type StepParts,
} from "../builders.js";
import type { Measure } from "../../../../src/model/snapshot/types.js";
import type { Example } from "../story.js";

const quietAfter21Days = snapshotOf({
  states: { activated: [["at_risk", inactiveFor("21d")]], at_risk: [["activated", activeWithin("3d")]] },
});

const onboarding = (...steps: StepParts[]) =>
  snapshotOf({ journeys: { onb: { start: happened("signed_up"), expiresAfter: "30d", steps } } });
const create: StepParts = ["create", happened("created")];
const invite: StepParts = ["invite", happened("invited")];
const checklist = onboarding(create, invite);

const health = healthOf(
  { adoption: [0.5, counted("used", 4, { within: "30d" })], engagement: [0.5, lately("used", [2, 100], [7, 50])] },
  { healthy: 70, at_risk: 40, critical: 0 },
);

const month = { within: "30d" };
const monthlyActiveUsers: Measure = { kind: "distinct", of: { event: "active" }, property: "user", ...month };
/**
 * The usage parts of the customer health score that Sourcegraph has published in its handbook (user metrics definitions): monthly active
 * users per licensed account, and daily per monthly active users. One `active` is sent per user and day, so the second times 30 is
 * the number of those per user: 12 if 40% of the users are active on a day. A signal is raised when activity falls to half.
 */
const publishedHealth = snapshotOf({
  events: { active: { properties: { user: { type: "string" } } } },
  traits: { accounts: { type: "number" } },
  health: healthOf(
    {
      adoption: { kind: "scale", of: per(monthlyActiveUsers, traitNumber("accounts")), from: 0, to: 1 },
      stickiness: { kind: "scale", of: per(number("active", month), monthlyActiveUsers), from: 0, to: 12 },
    },
    { good: 60, fair: 30, poor: 0 },
  ),
  signals: {
    fading: {
      when: compared(per(number("active", month), number("active", { ...month, previous: true })), "lte", 0.5),
    },
  },
});

/** Instants, counts and outcomes worked out by hand: windows and counts, lifecycle, journeys, rules and health. */
export const examples: Example[] = [
  {
    name: "a published health score: monthly active users per account, and how often each one is active",
    snapshot: publishedHealth,
    story: `
      i1 {"accounts":4} 01-01 00:00
      e1 active 01-01 09:00 {"user":"ada"}
      e2 active 01-01 10:00 {"user":"bob"}
      e3 active 01-02 09:00 {"user":"ada"}
      look
        health: 0 poor 01-01 00:00; 16.67 poor 01-01 09:00; 29.17 poor 01-01 10:00; 31.25 fair 01-02 09:00
        emissions: health.changed (null→poor 0) 01-01 00:00 by identify; health.changed (poor→fair 31.25) 01-02 09:00 by e3
        traits: {"accounts":4}
        clock: 01-02 09:00, 01-02 09:00, 01-31 10:00
      tick 01-31 10:00
      look
        health: 0 poor 01-01 00:00; 16.67 poor 01-01 09:00; 29.17 poor 01-01 10:00; 31.25 fair 01-02 09:00
        signals: fading raised 01-31 10:00
        emissions: health.changed (null→poor 0) 01-01 00:00 by identify; health.changed (poor→fair 31.25) 01-02 09:00 by e3; signal.raised (fading warning) 01-31 10:00 by timer
        traits: {"accounts":4}
        clock: 01-31 10:00, 01-02 09:00, 02-01 05:30
      e4 active 02-01 08:00 {"user":"ada"}
      e5 active 02-01 09:00 {"user":"cyd"}
      look
        health: 0 poor 01-01 00:00; 16.67 poor 01-01 09:00; 29.17 poor 01-01 10:00; 31.25 fair 01-02 09:00; 16.67 poor 02-01 05:30; 20.83 poor 02-01 08:00; 29.17 poor 02-01 09:00
        signals: fading cleared (raised 01-31 10:00) 02-01 08:00; fading cleared (raised 02-01 09:00) 02-01 09:00
        emissions: health.changed (null→poor 0) 01-01 00:00 by identify; health.changed (poor→fair 31.25) 01-02 09:00 by e3; signal.raised (fading warning) 01-31 10:00 by timer; health.changed (fair→poor 16.67) 02-01 05:30 by timer; signal.cleared (fading warning) 02-01 08:00 by e4; signal.raised (fading warning) 02-01 09:00 by timer; signal.cleared (fading warning) 02-01 09:00 by e5
        traits: {"accounts":4}
        clock: 02-01 09:00, 02-01 09:00, 03-03 08:00
      i2 {"accounts":null} 02-01 12:00
      look
        health: 0 poor 01-01 00:00; 16.67 poor 01-01 09:00; 29.17 poor 01-01 10:00; 31.25 fair 01-02 09:00; 16.67 poor 02-01 05:30; 20.83 poor 02-01 08:00; 29.17 poor 02-01 09:00; 4.17 poor 02-01 12:00
        signals: fading cleared (raised 01-31 10:00) 02-01 08:00; fading cleared (raised 02-01 09:00) 02-01 09:00
        emissions: health.changed (null→poor 0) 01-01 00:00 by identify; health.changed (poor→fair 31.25) 01-02 09:00 by e3; signal.raised (fading warning) 01-31 10:00 by timer; health.changed (fair→poor 16.67) 02-01 05:30 by timer; signal.cleared (fading warning) 02-01 08:00 by e4; signal.raised (fading warning) 02-01 09:00 by timer; signal.cleared (fading warning) 02-01 09:00 by e5
        clock: 02-01 12:00, 02-01 09:00, 03-03 08:00`,
  },
  {
    name: "an event exactly as old as the window is long has left it",
    snapshot: snapshotOf({ segments: { weekly: happened("login", { within: "7d" }) } }),
    story: `
      e1 login 03-02 10:00
      look
        segments: weekly in since 03-02 10:00
        emissions: segment.entered (weekly) 03-02 10:00 by e1
        clock: 03-02 10:00, 03-02 10:00, 03-09 10:00
      e2 other 03-09 10:00
      look
        segments: weekly out (in 03-02 10:00, out 03-09 10:00)
        emissions: segment.entered (weekly) 03-02 10:00 by e1; segment.exited (weekly) 03-09 10:00 by timer
        clock: 03-09 10:00, 03-09 10:00, —`,
  },
  {
    name: "a falling count flips when it passes its limit, not whenever an event leaves",
    snapshot: snapshotOf({ segments: { quiet: count("login", "lte", 1, { within: "7d" }) } }),
    story: `
      e1 login 03-01 00:00
      e2 login 03-03 00:00
      e3 login 03-04 00:00
      look
        segments: quiet out (in 03-01 00:00, out 03-03 00:00)
        emissions: segment.entered (quiet) 03-01 00:00 by e1; segment.exited (quiet) 03-03 00:00 by e2
        clock: 03-04 00:00, 03-04 00:00, 03-10 00:00
      tick 03-20 00:00
      look
        segments: quiet out (in 03-01 00:00, out 03-03 00:00); quiet in since 03-10 00:00
        emissions: segment.entered (quiet) 03-01 00:00 by e1; segment.exited (quiet) 03-03 00:00 by e2; segment.entered (quiet) 03-10 00:00 by timer
        clock: 03-10 00:00, 03-04 00:00, —`,
  },
  {
    name: "a late event too old to count leaves an inactive customer inactive",
    snapshot: quietAfter21Days,
    story: `
      e1 login 01-01 09:00
      tick 01-25 00:00
      e2 login 01-25 08:00 of 01-05 08:00
      look
        transitions: null→activated 01-01 09:00 by e1; activated→at_risk 01-22 09:00 by timer
        emissions: customer.created (null→activated) 01-01 09:00 by e1; customer.at_risk (activated→at_risk) 01-22 09:00 by timer
        clock: 01-22 09:00, 01-05 08:00, —`,
  },
  {
    name: "a late event recent enough to count is evaluated at the customer's clock",
    snapshot: quietAfter21Days,
    story: `
      e1 login 01-01 09:00
      tick 01-25 00:00
      e2 login 01-25 08:00 of 01-21 10:00
      look
        transitions: null→activated 01-01 09:00 by e1; activated→at_risk 01-22 09:00 by timer; at_risk→activated 01-22 09:00 by e2
        emissions: customer.created (null→activated) 01-01 09:00 by e1; customer.at_risk (activated→at_risk) 01-22 09:00 by timer; customer.activated (at_risk→activated) 01-22 09:00 by e2
        clock: 01-22 09:00, 01-21 10:00, 02-11 10:00`,
  },
  {
    name: "a due instant that no tick reached is evaluated as of itself before the next event",
    snapshot: quietAfter21Days,
    story: `
      e1 login 01-01 09:00
      e2 login 02-01 12:00
      look
        transitions: null→activated 01-01 09:00 by e1; activated→at_risk 01-22 09:00 by timer; at_risk→activated 02-01 12:00 by e2
        emissions: customer.created (null→activated) 01-01 09:00 by e1; customer.at_risk (activated→at_risk) 01-22 09:00 by timer; customer.activated (at_risk→activated) 02-01 12:00 by e2
        clock: 02-01 12:00, 02-01 12:00, 02-22 12:00`,
  },
  {
    name: "a timer and an event at one instant are two evaluations, the timer first",
    snapshot: quietAfter21Days,
    story: `
      e1 login 01-01 09:00
      e2 login 01-22 09:00
      look
        transitions: null→activated 01-01 09:00 by e1; activated→at_risk 01-22 09:00 by timer; at_risk→activated 01-22 09:00 by e2
        emissions: customer.created (null→activated) 01-01 09:00 by e1; customer.at_risk (activated→at_risk) 01-22 09:00 by timer; customer.activated (at_risk→activated) 01-22 09:00 by e2
        clock: 01-22 09:00, 01-22 09:00, 02-12 09:00`,
  },
  {
    name: "a customer without events is inactive from the first evaluation on",
    snapshot: quietAfter21Days,
    story: `
      i1 {"plan":"pro"} 01-01 09:00
      tick 01-02 00:00
      look
        transitions: null→activated 01-01 09:00 by identify
        emissions: customer.created (null→activated) 01-01 09:00 by identify
        traits: {"plan":"pro"}
        clock: 01-01 09:00, —, 01-22 09:00
      tick 02-01 00:00
      look
        transitions: null→activated 01-01 09:00 by identify; activated→at_risk 01-22 09:00 by timer
        emissions: customer.created (null→activated) 01-01 09:00 by identify; customer.at_risk (activated→at_risk) 01-22 09:00 by timer
        traits: {"plan":"pro"}
        clock: 01-22 09:00, —, —`,
  },
  {
    name: "transitions chain within one evaluation",
    snapshot: snapshotOf({
      states: {
        new: [["trial", trait("plan", "eq", "free")]],
        trial: [["activated", count("project_created", "gte", 1)]],
        activated: [["expert", happened("project_created", { where: property("seats", "gte", 5) })]],
        expert: [],
      },
    }),
    story: `
      i1 {"plan":"free"} 03-02 10:00
      e2 project_created 03-02 10:00 {"seats":8}
      look
        transitions: null→new 03-02 10:00 by identify; new→trial 03-02 10:00 by identify; trial→activated 03-02 10:00 by e2; activated→expert 03-02 10:00 by e2
        emissions: customer.created (null→new) 03-02 10:00 by identify; customer.trial (new→trial) 03-02 10:00 by identify; customer.activated (trial→activated) 03-02 10:00 by e2; customer.expert (activated→expert) 03-02 10:00 by e2
        traits: {"plan":"free"}
        clock: 03-02 10:00, 03-02 10:00, —`,
  },
  {
    name: "a terminal state is left by a replay, not by a late event",
    snapshot: snapshotOf({ states: { new: [["churned", inactiveFor("30d")]], churned: "terminal" } }),
    story: `
      e1 login 01-01 00:00
      tick 02-05 00:00
      e2 login 02-06 00:00 of 01-20 00:00
      replay 02-06 00:00
        transitions: null→new 01-01 00:00 by e1
        corrections: customer.new (churned→new) 02-06 00:00 by job
        clock: 01-20 00:00, 01-20 00:00, 02-19 00:00
      look
        transitions: null→new 01-01 00:00 by e1; new→churned 01-31 00:00 by timer
        emissions: customer.created (null→new) 01-01 00:00 by e1; customer.churned (new→churned) 01-31 00:00 by timer
        clock: 01-31 00:00, 01-20 00:00, —`,
  },
  {
    name: "a flapping transition is blocked within an evaluation, reported, and tried again at the next operation",
    snapshot: snapshotOf({ states: { a: [["b", happened("login")]], b: [["a", happened("login")]] } }),
    story: `
      e1 login 03-02 10:00
      e2 other 03-02 10:00
      tick 03-03 00:00
      look
        transitions: null→a 03-02 10:00 by e1; a→b 03-02 10:00 by e1; b→a 03-02 10:00 by e2
        blocked: b→a 03-02 10:00; a→b 03-02 10:00
        emissions: customer.created (null→a) 03-02 10:00 by e1; customer.b (a→b) 03-02 10:00 by e1; customer.a (b→a) 03-02 10:00 by e2
        clock: 03-02 10:00, 03-02 10:00, —`,
  },
  {
    name: "a checklist remembers events since its start, and completes its steps in their order",
    snapshot: checklist,
    story: `
      e1 signed_up 03-02 10:00
      e2 invited 03-02 10:05
      e3 created 03-02 10:05
      look
        journeys: onb complete at invite, 03-02 10:00 – 03-02 10:05: create 03-02 10:05 by e3, invite 03-02 10:05 by e3
        emissions: journey.started (onb) 03-02 10:00 by e1; journey.step_completed (onb create) 03-02 10:05 by e3; journey.step_completed (onb invite) 03-02 10:05 by e3; journey.completed (onb) 03-02 10:05 by e3
        clock: 03-02 10:05, 03-02 10:05, —`,
  },
  {
    name: "a step of a funnel counts only events after the operation that completed the step before",
    snapshot: onboarding(create, ["invite", happened("invited"), "previousStep"]),
    story: `
      e1 signed_up 03-02 10:00
      e2 invited 03-02 10:05
      e3 created 03-02 10:05
      look
        journeys: onb active at invite, 03-02 10:00 – …: create 03-02 10:05 by e3
        emissions: journey.started (onb) 03-02 10:00 by e1; journey.step_completed (onb create) 03-02 10:05 by e3
        clock: 03-02 10:05, 03-02 10:05, 04-01 10:00
      e4 invited 03-02 10:05
      look
        journeys: onb complete at invite, 03-02 10:00 – 03-02 10:05: create 03-02 10:05 by e3, invite 03-02 10:05 by e4
        emissions: journey.started (onb) 03-02 10:00 by e1; journey.step_completed (onb create) 03-02 10:05 by e3; journey.step_completed (onb invite) 03-02 10:05 by e4; journey.completed (onb) 03-02 10:05 by e4
        clock: 03-02 10:05, 03-02 10:05, —`,
  },
  {
    name: "the event that starts a journey does not complete a step of it",
    snapshot: snapshotOf({ journeys: { j: { start: happened("login"), steps: [["again", happened("login")]] } } }),
    story: `
      e1 login 03-02 10:00
      look
        journeys: j active at again, 03-02 10:00 – …
        emissions: journey.started (j) 03-02 10:00 by e1
        clock: 03-02 10:00, 03-02 10:00, —
      e2 login 03-02 10:00
      look
        journeys: j complete at again, 03-02 10:00 – 03-02 10:00: again 03-02 10:00 by e2
        emissions: journey.started (j) 03-02 10:00 by e1; journey.step_completed (j again) 03-02 10:00 by e2; journey.completed (j) 03-02 10:00 by e2
        clock: 03-02 10:00, 03-02 10:00, —`,
  },
  {
    name: "a journey expires at its due instant, however late that is noticed",
    snapshot: checklist,
    story: `
      e1 signed_up 03-01 08:00
      e2 created 03-01 09:00
      tick 04-03 08:00
      look
        journeys: onb expired at invite, 03-01 08:00 – 03-31 08:00: create 03-01 09:00 by e2
        emissions: journey.started (onb) 03-01 08:00 by e1; journey.step_completed (onb create) 03-01 09:00 by e2; journey.expired (onb) 03-31 08:00 by timer
        clock: 03-31 08:00, 03-01 09:00, —`,
  },
  {
    name: "a journey expires before a step at the same instant",
    snapshot: checklist,
    story: `
      e1 signed_up 03-01 08:00
      e2 created 03-01 09:00
      e3 invited 03-31 08:00
      look
        journeys: onb expired at invite, 03-01 08:00 – 03-31 08:00: create 03-01 09:00 by e2
        emissions: journey.started (onb) 03-01 08:00 by e1; journey.step_completed (onb create) 03-01 09:00 by e2; journey.expired (onb) 03-31 08:00 by timer
        clock: 03-31 08:00, 03-31 08:00, —`,
  },
  {
    name: "a rule adds to a segment, which the lifecycle reads at the same instant",
    snapshot: snapshotOf({
      states: { new: [["key_account", inSegment("vip")]], key_account: [] },
      segments: { vip: null },
      rules: { promote: rule("paid", addTo("vip")) },
    }),
    story: `
      e1 paid 03-02 10:00
      look
        transitions: null→new 03-02 10:00 by e1; new→key_account 03-02 10:00 by e1
        segments: vip in since 03-02 10:00
        rules: promote pass 03-02 10:00 (event:paid)
        emissions: customer.created (null→new) 03-02 10:00 by e1; segment.entered (vip) 03-02 10:00 by e1; customer.key_account (new→key_account) 03-02 10:00 by e1
        clock: 03-02 10:00, 03-02 10:00, —`,
  },
  {
    name: "a segment that the lifecycle reads is evaluated before it",
    snapshot: snapshotOf({
      states: {
        new: [
          ["small_active", all(count("created", "gte", 2), not(inSegment("big")))],
          ["big_active", all(count("created", "gte", 2), inSegment("big"))],
        ],
        small_active: [],
        big_active: [],
      },
      segments: { big: count("created", "gte", 2) },
    }),
    story: `
      e1 created 03-02 10:00
      e2 created 03-02 10:01
      look
        transitions: null→new 03-02 10:00 by e1; new→big_active 03-02 10:01 by e2
        segments: big in since 03-02 10:01
        emissions: customer.created (null→new) 03-02 10:00 by e1; segment.entered (big) 03-02 10:01 by e2; customer.big_active (new→big_active) 03-02 10:01 by e2
        clock: 03-02 10:01, 03-02 10:01, —`,
  },
  {
    name: "a rule fails on its condition, then passes, skips during its cooldown, and passes at its end",
    snapshot: snapshotOf({
      rules: {
        upsell: rule("paid", emit("upsell.ready"), { when: trait("plan", "eq", "pro"), cooldown: "30d" }),
      },
    }),
    story: `
      e1 paid 01-01 00:00
      i2 {"plan":"pro"} 01-01 06:00
      e3 paid 01-02 00:00
      e4 paid 01-31 23:59
      e5 paid 02-01 00:00
      look
        rules: upsell fail 01-01 00:00 (event:paid); upsell pass 01-02 00:00 (event:paid); upsell skip 01-31 23:59 (event:paid); upsell pass 02-01 00:00 (event:paid)
        emissions: upsell.ready (upsell) 01-02 00:00 by e3; upsell.ready (upsell) 02-01 00:00 by e5
        traits: {"plan":"pro"}
        clock: 02-01 00:00, 02-01 00:00, —`,
  },
  {
    name: "a signal is raised once at its due instant and cleared once",
    snapshot: snapshotOf({ signals: { going_quiet: { when: inactiveFor("10d") } } }),
    story: `
      e1 login 03-01 00:00
      tick 03-20 00:00
      e2 login 03-20 12:00
      e3 login 03-20 13:00
      look
        signals: going_quiet cleared (raised 03-11 00:00) 03-20 12:00
        emissions: signal.raised (going_quiet warning) 03-11 00:00 by timer; signal.cleared (going_quiet warning) 03-20 12:00 by e2
        clock: 03-20 13:00, 03-20 13:00, 03-30 13:00`,
  },
  {
    name: "health that no condition reads is refreshed at the customer's minute of the day",
    snapshot: snapshotOf({ health }),
    story: `
      e1 used 03-01 12:00
      e2 used 03-01 12:00
      look
        health: 62.5 at_risk 03-01 12:00; 75 healthy 03-01 12:00
        emissions: health.changed (null→at_risk 62.5) 03-01 12:00 by e1; health.changed (at_risk→healthy 75) 03-01 12:00 by e2
        clock: 03-01 12:00, 03-01 12:00, 03-05 05:30
      tick 03-20 00:00
      look
        health: 62.5 at_risk 03-01 12:00; 75 healthy 03-01 12:00; 50 at_risk 03-05 05:30; 25 critical 03-10 05:30
        emissions: health.changed (null→at_risk 62.5) 03-01 12:00 by e1; health.changed (at_risk→healthy 75) 03-01 12:00 by e2; health.changed (healthy→at_risk 50) 03-05 05:30 by timer; health.changed (at_risk→critical 25) 03-10 05:30 by timer
        clock: 03-10 05:30, 03-01 12:00, 04-01 05:30`,
  },
  {
    name: "an operation updates the health score, an unrelated timer does not",
    snapshot: snapshotOf({ health, signals: { still: { when: inactiveFor("3d") } } }),
    story: `
      e1 used 03-01 00:00
      tick 03-04 00:00
      look
        health: 62.5 at_risk 03-01 00:00
        signals: still raised 03-04 00:00
        emissions: health.changed (null→at_risk 62.5) 03-01 00:00 by e1; signal.raised (still warning) 03-04 00:00 by timer
        clock: 03-04 00:00, 03-01 00:00, 03-04 05:30
      e2 other 03-04 00:30
      look
        health: 62.5 at_risk 03-01 00:00; 37.5 critical 03-04 00:30
        signals: still cleared (raised 03-04 00:00) 03-04 00:30
        emissions: health.changed (null→at_risk 62.5) 03-01 00:00 by e1; signal.raised (still warning) 03-04 00:00 by timer; health.changed (at_risk→critical 37.5) 03-04 00:30 by e2; signal.cleared (still warning) 03-04 00:30 by e2
        clock: 03-04 00:30, 03-04 00:30, 03-07 00:30`,
  },
];
