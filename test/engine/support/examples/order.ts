import type { Snapshot } from "../../../../src/model/snapshot/types.js";
import { activeWithin, count, dateWithin, happened, inactiveFor, snapshotOf, trait, traitExists } from "../builders.js";
import type { Example } from "./example.js";

const freeTrial = snapshotOf({
  states: {
    new: [["trial", trait("plan", "eq", "free")]],
    trial: [["activated", count("created", "gte", 2)]],
    activated: [],
  },
  rules: { note: { on: { kind: "traitsChanged" }, then: { kind: "emit", type: "traits.noted" } } },
});
const { rules: _, ...trial } = freeTrial;
const freeTrialAlone: Snapshot = { ...trial, rules: [] };
const backfilled = snapshotOf({
  states: {
    new: [["activated", happened("login")]],
    activated: [["at_risk", inactiveFor("21d")]],
    at_risk: [["activated", activeWithin("3d")]],
  },
});

/** Instants, counts and outcomes worked out by hand: the order of operations. */
export const examples: Example[] = [
  {
    name: "an identify at the head of a backfill leaves the clock to the history behind it",
    snapshot: freeTrial,
    steps: [
      ["i1", "identify", { plan: "free" }, "06-01 10:00"],
      ["e2", "track", "created", "06-01 10:00", "01-05 00:00"],
      ["e3", "track", "created", "06-01 10:00", "02-05 00:00"],
      ["look", "after e3"],
      ["tick", "06-01 10:00:20"],
      ["tick", "06-01 10:00:30"],
    ],
    looks: {
      "after e3": {
        transitions: ["null→new 01-05 00:00 by e2", "new→trial 01-05 00:00 by e2", "trial→activated 02-05 00:00 by e3"],
        traits: { plan: "free" },
        emissions: [
          "customer.created (null→new) 01-05 00:00 by e2",
          "customer.trial (new→trial) 01-05 00:00 by e2",
          "customer.activated (trial→activated) 02-05 00:00 by e3",
        ],
        clock: "02-05 00:00, 02-05 00:00, 06-01 10:00",
      },
    },
    end: {
      transitions: ["null→new 01-05 00:00 by e2", "new→trial 01-05 00:00 by e2", "trial→activated 02-05 00:00 by e3"],
      rules: ["note pass 06-01 10:00 (traits)"],
      traits: { plan: "free" },
      emissions: [
        "customer.created (null→new) 01-05 00:00 by e2",
        "customer.trial (new→trial) 01-05 00:00 by e2",
        "customer.activated (trial→activated) 02-05 00:00 by e3",
        "traits.noted (note) 06-01 10:00 by identify",
      ],
      clock: "06-01 10:00, 02-05 00:00, —",
    },
  },
  {
    name: "an identify between two events of one batch holds for the second",
    snapshot: freeTrial,
    steps: [
      ["e1", "track", "created", "06-01 10:00", "01-05 00:00"],
      ["i2", "identify", { plan: "free" }, "06-01 10:00"],
      ["e3", "track", "created", "06-01 10:00", "01-06 00:00"],
      ["tick", "06-01 10:01"],
    ],
    end: {
      transitions: ["null→new 01-05 00:00 by e1", "new→trial 01-06 00:00 by e3", "trial→activated 01-06 00:00 by e3"],
      rules: ["note pass 06-01 10:00 (traits)"],
      traits: { plan: "free" },
      emissions: [
        "customer.created (null→new) 01-05 00:00 by e1",
        "customer.trial (new→trial) 01-06 00:00 by e3",
        "customer.activated (trial→activated) 01-06 00:00 by e3",
        "traits.noted (note) 06-01 10:00 by identify",
      ],
      clock: "06-01 10:00, 01-06 00:00, —",
    },
  },
  {
    name: "null removes a trait, and removing an absent one makes nothing due",
    snapshot: snapshotOf({ segments: { planned: traitExists("plan"), not_free: trait("plan", "ne", "free") } }),
    steps: [
      ["i1", "identify", { plan: "free", seats: 3 }, "03-02 10:00"],
      ["tick", "03-02 10:01"],
      ["i2", "identify", { plan: null }, "03-02 11:00"],
      ["tick", "03-02 11:01"],
      ["i3", "identify", { plan: null }, "03-02 12:00"],
      ["tick", "03-02 12:01"],
    ],
    end: {
      segments: ["planned out (in 03-02 10:00, out 03-02 11:00)", "not_free in since 03-02 11:00"],
      traits: { seats: 3 },
      emissions: [
        "segment.entered (planned) 03-02 10:00 by identify",
        "segment.exited (planned) 03-02 11:00 by identify",
        "segment.entered (not_free) 03-02 11:00 by identify",
      ],
      clock: "03-02 11:00, —, —",
    },
  },
  {
    name: "an event four minutes ahead is evaluated at once, at its own instant",
    snapshot: freeTrialAlone,
    steps: [
      ["i1", "identify", { plan: "free" }, "03-02 10:00"],
      ["e2", "track", "created", "03-02 10:00", "03-02 10:04"],
      ["e3", "track", "created", "03-02 10:01"],
    ],
    end: {
      transitions: [
        "null→new 03-02 10:00 by identify",
        "new→trial 03-02 10:00 by identify",
        "trial→activated 03-02 10:04 by e3",
      ],
      traits: { plan: "free" },
      emissions: [
        "customer.created (null→new) 03-02 10:00 by identify",
        "customer.trial (new→trial) 03-02 10:00 by identify",
        "customer.activated (trial→activated) 03-02 10:04 by e3",
      ],
      clock: "03-02 10:04, 03-02 10:04, —",
    },
  },
  {
    name: "an event two hours ahead counts for nothing until its instant, at which the customer is due",
    snapshot: freeTrialAlone,
    steps: [
      ["i1", "identify", { plan: "free" }, "03-02 10:00"],
      ["e2", "track", "created", "03-02 10:00"],
      ["e3", "track", "created", "03-02 10:00", "03-02 12:00"],
      ["e4", "track", "other", "03-02 10:30"],
      ["look", "after e4"],
      ["tick", "03-02 12:00"],
    ],
    looks: {
      "after e4": {
        transitions: ["null→new 03-02 10:00 by identify", "new→trial 03-02 10:00 by identify"],
        traits: { plan: "free" },
        emissions: [
          "customer.created (null→new) 03-02 10:00 by identify",
          "customer.trial (new→trial) 03-02 10:00 by identify",
        ],
        clock: "03-02 10:30, 03-02 10:30, 03-02 12:00",
      },
    },
    end: {
      transitions: [
        "null→new 03-02 10:00 by identify",
        "new→trial 03-02 10:00 by identify",
        "trial→activated 03-02 12:00 by e3",
      ],
      traits: { plan: "free" },
      emissions: [
        "customer.created (null→new) 03-02 10:00 by identify",
        "customer.trial (new→trial) 03-02 10:00 by identify",
        "customer.activated (trial→activated) 03-02 12:00 by e3",
      ],
      clock: "03-02 12:00, 03-02 12:00, —",
    },
  },
  {
    name: "the timers of a backfill in two requests wait until it has settled",
    snapshot: backfilled,
    steps: [
      ["e1", "track", "login", "06-01 10:00", "01-01 00:00"],
      ["tick", "06-01 10:00:10"],
      ["e2", "track", "login", "06-01 10:00:20", "01-10 00:00"],
      ["tick", "06-01 10:00:49"],
      ["look", "before settle"],
      ["tick", "06-01 10:00:50"],
    ],
    looks: {
      "before settle": {
        transitions: ["null→new 01-01 00:00 by e1", "new→activated 01-01 00:00 by e1"],
        emissions: [
          "customer.created (null→new) 01-01 00:00 by e1",
          "customer.activated (new→activated) 01-01 00:00 by e1",
        ],
        clock: "01-10 00:00, 01-10 00:00, 01-31 00:00",
      },
    },
    end: {
      transitions: [
        "null→new 01-01 00:00 by e1",
        "new→activated 01-01 00:00 by e1",
        "activated→at_risk 01-31 00:00 by timer",
      ],
      emissions: [
        "customer.created (null→new) 01-01 00:00 by e1",
        "customer.activated (new→activated) 01-01 00:00 by e1",
        "customer.at_risk (activated→at_risk) 01-31 00:00 by timer",
      ],
      clock: "01-31 00:00, 01-10 00:00, —",
    },
  },
  {
    name: "an operation counts once",
    snapshot: snapshotOf({ states: { new: [["activated", count("created", "gte", 2)]], activated: [] } }),
    steps: [
      ["e1", "track", "created", "03-02 10:00"],
      ["look", "after the repetition"],
      ["e2", "track", "created", "03-02 10:02"],
    ],
    looks: {
      "after the repetition": {
        transitions: ["null→new 03-02 10:00 by e1"],
        emissions: ["customer.created (null→new) 03-02 10:00 by e1"],
        clock: "03-02 10:00, 03-02 10:00, —",
      },
    },
    end: {
      transitions: ["null→new 03-02 10:00 by e1", "new→activated 03-02 10:02 by e2"],
      emissions: [
        "customer.created (null→new) 03-02 10:00 by e1",
        "customer.activated (new→activated) 03-02 10:02 by e2",
      ],
      clock: "03-02 10:02, 03-02 10:02, —",
    },
  },
  {
    name: "a date trait comes near and passes",
    snapshot: snapshotOf({
      segments: { renewal: dateWithin("renewsOn", "30d") },
      traits: { renewsOn: { type: "date" } },
    }),
    steps: [
      ["i1", "identify", { renewsOn: "2026-05-01" }, "03-01 00:00"],
      ["tick", "03-01 00:01"],
      ["look", "after the first tick"],
      ["tick", "06-01 00:00"],
    ],
    looks: { "after the first tick": { traits: { renewsOn: "2026-05-01" }, clock: "03-01 00:00, —, 04-01 00:00" } },
    end: {
      segments: ["renewal out (in 04-01 00:00, out 05-01 00:00)"],
      traits: { renewsOn: "2026-05-01" },
      emissions: ["segment.entered (renewal) 04-01 00:00 by timer", "segment.exited (renewal) 05-01 00:00 by timer"],
      clock: "05-01 00:00, —, —",
    },
  },
  {
    name: "two identifies of one instant are evaluated once, two of different instants each at its own",
    snapshot: freeTrial,
    steps: [
      ["e1", "track", "created", "03-01 00:00"],
      ["i2", "identify", { plan: "free" }, "03-02 10:00"],
      ["i3", "identify", { plan: "pro" }, "03-02 10:00"],
      ["tick", "03-02 10:01"],
      ["look", "one request"],
      ["i4", "identify", { plan: "free" }, "03-03 10:00"],
      ["i5", "identify", { plan: "pro" }, "03-03 10:05"],
      ["tick", "03-03 11:00"],
    ],
    looks: {
      "one request": {
        transitions: ["null→new 03-01 00:00 by e1"],
        rules: ["note pass 03-02 10:00 (traits)"],
        traits: { plan: "pro" },
        emissions: ["customer.created (null→new) 03-01 00:00 by e1", "traits.noted (note) 03-02 10:00 by identify"],
        clock: "03-02 10:00, 03-01 00:00, —",
      },
    },
    end: {
      transitions: ["null→new 03-01 00:00 by e1", "new→trial 03-03 10:00 by identify"],
      rules: ["note pass 03-02 10:00 (traits)", "note pass 03-03 10:00 (traits)", "note pass 03-03 10:05 (traits)"],
      traits: { plan: "pro" },
      emissions: [
        "customer.created (null→new) 03-01 00:00 by e1",
        "traits.noted (note) 03-02 10:00 by identify",
        "customer.trial (new→trial) 03-03 10:00 by identify",
        "traits.noted (note) 03-03 10:00 by identify",
        "traits.noted (note) 03-03 10:05 by identify",
      ],
      clock: "03-03 10:05, 03-01 00:00, —",
    },
  },
];
