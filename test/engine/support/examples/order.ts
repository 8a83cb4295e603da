import { activeWithin, count, dateWithin, happened, inactiveFor, snapshotOf, trait, traitExists } from "../builders.js";
import type { Example } from "../story.js";

const freeTrial = snapshotOf({
  states: {
    new: [["trial", trait("plan", "eq", "free")]],
    trial: [["activated", count("created", "gte", 2)]],
    activated: [],
  },
  rules: { note: { on: { kind: "traitsChanged" }, then: { kind: "emit", type: "traits.noted" } } },
});
const freeTrialAlone = { ...freeTrial, rules: [] };
const backfilled = snapshotOf({
  states: {
    new: [["activated", happened("login")]],
    activated: [["at_risk", inactiveFor("21d")]],
    at_risk: [["activated", activeWithin("3d")]],
  },
});

/** Instants, counts and outcomes worked out by hand: the order of operations, versions and replays. */
export const examples: Example[] = [
  {
    name: "an identify at the start of a backfill does not move the clock past the history that follows",
    snapshot: freeTrial,
    story: `
      i1 {"plan":"free"} 06-01 10:00
      e2 created 06-01 10:00 of 01-05 00:00
      e3 created 06-01 10:00 of 02-05 00:00
      look
        transitions: null→new 01-05 00:00 by e2; new→trial 01-05 00:00 by e2; trial→activated 02-05 00:00 by e3
        emissions: customer.created (null→new) 01-05 00:00 by e2; customer.trial (new→trial) 01-05 00:00 by e2; customer.activated (trial→activated) 02-05 00:00 by e3
        traits: {"plan":"free"}
        clock: 02-05 00:00, 02-05 00:00, 06-01 10:00
      tick 06-01 10:00:20
      tick 06-01 10:00:30
      look
        transitions: null→new 01-05 00:00 by e2; new→trial 01-05 00:00 by e2; trial→activated 02-05 00:00 by e3
        rules: note pass 06-01 10:00 (traits)
        emissions: customer.created (null→new) 01-05 00:00 by e2; customer.trial (new→trial) 01-05 00:00 by e2; customer.activated (trial→activated) 02-05 00:00 by e3; traits.noted (note) 06-01 10:00 by identify
        traits: {"plan":"free"}
        clock: 06-01 10:00, 02-05 00:00, —`,
  },
  {
    name: "an identify between two events of one batch applies to the second",
    snapshot: freeTrial,
    story: `
      e1 created 06-01 10:00 of 01-05 00:00
      i2 {"plan":"free"} 06-01 10:00
      e3 created 06-01 10:00 of 01-06 00:00
      tick 06-01 10:01
      look
        transitions: null→new 01-05 00:00 by e1; new→trial 01-06 00:00 by e3; trial→activated 01-06 00:00 by e3
        rules: note pass 06-01 10:00 (traits)
        emissions: customer.created (null→new) 01-05 00:00 by e1; customer.trial (new→trial) 01-06 00:00 by e3; customer.activated (trial→activated) 01-06 00:00 by e3; traits.noted (note) 06-01 10:00 by identify
        traits: {"plan":"free"}
        clock: 06-01 10:00, 01-06 00:00, —`,
  },
  {
    name: "null removes a trait, and removing an absent one makes nothing due",
    snapshot: snapshotOf({ segments: { planned: traitExists("plan"), not_free: trait("plan", "ne", "free") } }),
    story: `
      i1 {"plan":"free","seats":3} 03-02 10:00
      tick 03-02 10:01
      i2 {"plan":null} 03-02 11:00
      tick 03-02 11:01
      i3 {"plan":null} 03-02 12:00
      tick 03-02 12:01
      look
        segments: planned out (in 03-02 10:00, out 03-02 11:00); not_free in since 03-02 11:00
        emissions: segment.entered (planned) 03-02 10:00 by identify; segment.exited (planned) 03-02 11:00 by identify; segment.entered (not_free) 03-02 11:00 by identify
        traits: {"seats":3}
        clock: 03-02 11:00, —, —`,
  },
  {
    name: "an event four minutes ahead is evaluated at once, at its own instant",
    snapshot: freeTrialAlone,
    story: `
      i1 {"plan":"free"} 03-02 10:00
      e2 created 03-02 10:00 of 03-02 10:04
      e3 created 03-02 10:01
      look
        transitions: null→new 03-02 10:00 by identify; new→trial 03-02 10:00 by identify; trial→activated 03-02 10:04 by e3
        emissions: customer.created (null→new) 03-02 10:00 by identify; customer.trial (new→trial) 03-02 10:00 by identify; customer.activated (trial→activated) 03-02 10:04 by e3
        traits: {"plan":"free"}
        clock: 03-02 10:04, 03-02 10:04, —`,
  },
  {
    name: "an event two hours ahead counts for nothing until its instant, at which the customer is due",
    snapshot: freeTrialAlone,
    story: `
      i1 {"plan":"free"} 03-02 10:00
      e2 created 03-02 10:00
      e3 created 03-02 10:00 of 03-02 12:00
      e4 other 03-02 10:30
      look
        transitions: null→new 03-02 10:00 by identify; new→trial 03-02 10:00 by identify
        emissions: customer.created (null→new) 03-02 10:00 by identify; customer.trial (new→trial) 03-02 10:00 by identify
        traits: {"plan":"free"}
        clock: 03-02 10:30, 03-02 10:30, 03-02 12:00
      tick 03-02 12:00
      look
        transitions: null→new 03-02 10:00 by identify; new→trial 03-02 10:00 by identify; trial→activated 03-02 12:00 by e3
        emissions: customer.created (null→new) 03-02 10:00 by identify; customer.trial (new→trial) 03-02 10:00 by identify; customer.activated (trial→activated) 03-02 12:00 by e3
        traits: {"plan":"free"}
        clock: 03-02 12:00, 03-02 12:00, —`,
  },
  {
    name: "the timers of a backfill in two requests wait until it has settled",
    snapshot: backfilled,
    story: `
      e1 login 06-01 10:00 of 01-01 00:00
      tick 06-01 10:00:10
      e2 login 06-01 10:00:20 of 01-10 00:00
      tick 06-01 10:00:49
      look
        transitions: null→new 01-01 00:00 by e1; new→activated 01-01 00:00 by e1
        emissions: customer.created (null→new) 01-01 00:00 by e1; customer.activated (new→activated) 01-01 00:00 by e1
        clock: 01-10 00:00, 01-10 00:00, 01-31 00:00
      tick 06-01 10:00:50
      look
        transitions: null→new 01-01 00:00 by e1; new→activated 01-01 00:00 by e1; activated→at_risk 01-31 00:00 by timer
        emissions: customer.created (null→new) 01-01 00:00 by e1; customer.activated (new→activated) 01-01 00:00 by e1; customer.at_risk (activated→at_risk) 01-31 00:00 by timer
        clock: 01-31 00:00, 01-10 00:00, —`,
  },
  {
    name: "an operation counts once",
    snapshot: snapshotOf({ states: { new: [["activated", count("created", "gte", 2)]], activated: [] } }),
    story: `
      e1 created 03-02 10:00
      look
        transitions: null→new 03-02 10:00 by e1
        emissions: customer.created (null→new) 03-02 10:00 by e1
        clock: 03-02 10:00, 03-02 10:00, —
      e2 created 03-02 10:02
      look
        transitions: null→new 03-02 10:00 by e1; new→activated 03-02 10:02 by e2
        emissions: customer.created (null→new) 03-02 10:00 by e1; customer.activated (new→activated) 03-02 10:02 by e2
        clock: 03-02 10:02, 03-02 10:02, —`,
  },
  {
    name: "a date trait becomes near and passes",
    snapshot: snapshotOf({
      segments: { renewal: dateWithin("renewsOn", "30d") },
      traits: { renewsOn: { type: "date" } },
    }),
    story: `
      i1 {"renewsOn":"2026-05-01"} 03-01 00:00
      tick 03-01 00:01
      look
        traits: {"renewsOn":"2026-05-01"}
        clock: 03-01 00:00, —, 04-01 00:00
      tick 06-01 00:00
      look
        segments: renewal out (in 04-01 00:00, out 05-01 00:00)
        emissions: segment.entered (renewal) 04-01 00:00 by timer; segment.exited (renewal) 05-01 00:00 by timer
        traits: {"renewsOn":"2026-05-01"}
        clock: 05-01 00:00, —, —`,
  },
  {
    name: "two identifies of one instant are evaluated once, two of different instants each at its own",
    snapshot: freeTrial,
    story: `
      e1 created 03-01 00:00
      i2 {"plan":"free"} 03-02 10:00
      i3 {"plan":"pro"} 03-02 10:00
      tick 03-02 10:01
      look
        transitions: null→new 03-01 00:00 by e1
        rules: note pass 03-02 10:00 (traits)
        emissions: customer.created (null→new) 03-01 00:00 by e1; traits.noted (note) 03-02 10:00 by identify
        traits: {"plan":"pro"}
        clock: 03-02 10:00, 03-01 00:00, —
      i4 {"plan":"free"} 03-03 10:00
      i5 {"plan":"pro"} 03-03 10:05
      tick 03-03 11:00
      look
        transitions: null→new 03-01 00:00 by e1; new→trial 03-03 10:00 by identify
        rules: note pass 03-02 10:00 (traits); note pass 03-03 10:00 (traits); note pass 03-03 10:05 (traits)
        emissions: customer.created (null→new) 03-01 00:00 by e1; traits.noted (note) 03-02 10:00 by identify; customer.trial (new→trial) 03-03 10:00 by identify; traits.noted (note) 03-03 10:00 by identify; traits.noted (note) 03-03 10:05 by identify
        traits: {"plan":"pro"}
        clock: 03-03 10:05, 03-01 00:00, —`,
  },
  {
    name: "operations after the timers of a settled backfill fired are late; a replay ends the same through other rows",
    snapshot: backfilled,
    story: `
      e1 login 06-01 10:00 of 01-01 00:00
      tick 06-01 10:00:40
      look
        transitions: null→new 01-01 00:00 by e1; new→activated 01-01 00:00 by e1; activated→at_risk 01-22 00:00 by timer
        emissions: customer.created (null→new) 01-01 00:00 by e1; customer.activated (new→activated) 01-01 00:00 by e1; customer.at_risk (activated→at_risk) 01-22 00:00 by timer
        clock: 01-22 00:00, 01-01 00:00, —
      e2 login 06-01 10:01 of 01-10 00:00
      replay 06-01 11:00
        transitions: null→new 01-01 00:00 by e1; new→activated 01-01 00:00 by e1; activated→at_risk 01-31 00:00 by timer
        clock: 01-31 00:00, 01-10 00:00, —
      look
        transitions: null→new 01-01 00:00 by e1; new→activated 01-01 00:00 by e1; activated→at_risk 01-22 00:00 by timer
        emissions: customer.created (null→new) 01-01 00:00 by e1; customer.activated (new→activated) 01-01 00:00 by e1; customer.at_risk (activated→at_risk) 01-22 00:00 by timer
        clock: 01-22 00:00, 01-10 00:00, —`,
  },
  {
    name: "a state that a new version does not have is kept until a replay",
    snapshot: backfilled,
    later: snapshotOf({
      states: { new: [["engaged", happened("login")]], engaged: [["dormant", inactiveFor("7d")]], dormant: [] },
    }),
    story: `
      e1 login 03-01 00:00
      look
        transitions: null→new 03-01 00:00 by e1; new→activated 03-01 00:00 by e1
        emissions: customer.created (null→new) 03-01 00:00 by e1; customer.activated (new→activated) 03-01 00:00 by e1
        clock: 03-01 00:00, 03-01 00:00, 03-22 00:00
      version
      e2 login 03-06 00:00
      replay 03-07 00:00
        transitions: null→new 03-01 00:00 by e1; new→engaged 03-01 00:00 by e1
        corrections: customer.engaged (activated→engaged) 03-07 00:00 by job
        clock: 03-06 00:00, 03-06 00:00, 03-13 00:00
      look
        transitions: null→new 03-01 00:00 by e1; new→activated 03-01 00:00 by e1
        emissions: customer.created (null→new) 03-01 00:00 by e1; customer.activated (new→activated) 03-01 00:00 by e1
        clock: 03-06 00:00, 03-06 00:00, —`,
  },
  {
    name: "a replay completes a step whose event came too late, and corrects only that",
    snapshot: snapshotOf({
      segments: { streak: count("login", "gte", 3, { within: "7d" }) },
      journeys: { j: { start: happened("login"), expiresAfter: "5d", steps: [["pay", happened("paid")]] } },
    }),
    story: `
      e1 login 03-01 00:00
      e2 login 03-05 00:00
      tick 03-06 12:00
      e3 paid 03-06 13:00 of 03-04 00:00
      e4 login 03-06 14:00
      replay 03-07 00:00
        journeys: j complete at pay, 03-01 00:00 – 03-04 00:00: pay 03-04 00:00 by e3
        segments: streak in since 03-06 14:00
        corrections: journey.completed (j) 03-07 00:00 by job
        clock: 03-06 14:00, 03-06 14:00, 03-08 00:00
      look
        journeys: j expired at pay, 03-01 00:00 – 03-06 00:00
        segments: streak in since 03-06 14:00
        emissions: journey.started (j) 03-01 00:00 by e1; journey.expired (j) 03-06 00:00 by timer; segment.entered (streak) 03-06 14:00 by e4
        clock: 03-06 14:00, 03-06 14:00, 03-08 00:00`,
  },
  {
    name: "events before an identify do not count since the state that it caused, even at the same instant",
    snapshot: snapshotOf({
      states: {
        new: [["trial", trait("plan", "eq", "free")]],
        trial: [["activated", happened("created", { since: "state" })]],
        activated: [],
      },
      traits: { plan: { type: "string" } },
    }),
    story: `
      e1 created 02-01 00:00
      i2 {"plan":"free"} 02-01 00:00
      tick 02-01 00:01
      look
        transitions: null→new 02-01 00:00 by e1; new→trial 02-01 00:00 by identify
        emissions: customer.created (null→new) 02-01 00:00 by e1; customer.trial (new→trial) 02-01 00:00 by identify
        traits: {"plan":"free"}
        clock: 02-01 00:00, 02-01 00:00, —
      replay 02-02 00:00
        transitions: null→new 02-01 00:00 by identify; new→trial 02-01 00:00 by identify
        traits: {"plan":"free"}
        clock: 02-01 00:00, 02-01 00:00, —
      e3 created 02-01 00:00
      look
        transitions: null→new 02-01 00:00 by e1; new→trial 02-01 00:00 by identify; trial→activated 02-01 00:00 by e3
        emissions: customer.created (null→new) 02-01 00:00 by e1; customer.trial (new→trial) 02-01 00:00 by identify; customer.activated (trial→activated) 02-01 00:00 by e3
        traits: {"plan":"free"}
        clock: 02-01 00:00, 02-01 00:00, —`,
  },
  {
    name: "a replay has the traits from the start and runs their rule once, when they last changed",
    snapshot: freeTrial,
    story: `
      e1 created 01-05 00:00
      e2 created 01-06 00:00
      i3 {"plan":"free"} 02-01 00:00
      tick 02-01 00:01
      replay 03-01 00:00
        transitions: null→new 01-05 00:00 by e1; new→trial 01-05 00:00 by e1; trial→activated 01-06 00:00 by e2
        rules: note pass 02-01 00:00 (traits)
        traits: {"plan":"free"}
        clock: 02-01 00:00, 01-06 00:00, —
      look
        transitions: null→new 01-05 00:00 by e1; new→trial 02-01 00:00 by identify; trial→activated 02-01 00:00 by identify
        rules: note pass 02-01 00:00 (traits)
        emissions: customer.created (null→new) 01-05 00:00 by e1; customer.trial (new→trial) 02-01 00:00 by identify; customer.activated (trial→activated) 02-01 00:00 by identify; traits.noted (note) 02-01 00:00 by identify
        traits: {"plan":"free"}
        clock: 02-01 00:00, 01-06 00:00, —`,
  },
];
