import { activeWithin, count, happened, inactiveFor, snapshotOf, trait } from "../builders.js";
import type { Example } from "./example.js";

const freeTrial = snapshotOf({
  states: {
    new: [["trial", trait("plan", "eq", "free")]],
    trial: [["activated", count("created", "gte", 2)]],
    activated: [],
  },
  rules: { note: { on: { kind: "traitsChanged" }, then: { kind: "emit", type: "traits.noted" } } },
});
const backfilled = snapshotOf({
  states: {
    new: [["activated", happened("login")]],
    activated: [["at_risk", inactiveFor("21d")]],
    at_risk: [["activated", activeWithin("3d")]],
  },
});

/** Instants, counts and outcomes worked out by hand: versions and replays. */
export const examples: Example[] = [
  {
    name: "what arrives after the timers of a settled backfill fired is late; a replay ends alike by other rows",
    snapshot: backfilled,
    steps: [
      ["e1", "track", "login", "06-01 10:00", "01-01 00:00"],
      ["tick", "06-01 10:00:40"],
      ["look", "after the tick"],
      ["e2", "track", "login", "06-01 10:01", "01-10 00:00"],
      ["replay", "06-01 11:00"],
    ],
    looks: {
      "after the tick": {
        transitions: [
          "null→new 01-01 00:00 by e1",
          "new→activated 01-01 00:00 by e1",
          "activated→at_risk 01-22 00:00 by timer",
        ],
        emissions: [
          "customer.created (null→new) 01-01 00:00 by e1",
          "customer.activated (new→activated) 01-01 00:00 by e1",
          "customer.at_risk (activated→at_risk) 01-22 00:00 by timer",
        ],
        clock: "01-22 00:00, 01-01 00:00, —",
      },
    },
    end: {
      transitions: [
        "null→new 01-01 00:00 by e1",
        "new→activated 01-01 00:00 by e1",
        "activated→at_risk 01-22 00:00 by timer",
      ],
      emissions: [
        "customer.created (null→new) 01-01 00:00 by e1",
        "customer.activated (new→activated) 01-01 00:00 by e1",
        "customer.at_risk (activated→at_risk) 01-22 00:00 by timer",
      ],
      clock: "01-22 00:00, 01-10 00:00, —",
    },
    replays: [
      {
        transitions: [
          "null→new 01-01 00:00 by e1",
          "new→activated 01-01 00:00 by e1",
          "activated→at_risk 01-31 00:00 by timer",
        ],
        clock: "01-31 00:00, 01-10 00:00, —",
      },
    ],
  },
  {
    name: "a state that another version does not know is kept until a replay",
    snapshot: backfilled,
    steps: [
      ["e1", "track", "login", "03-01 00:00"],
      ["look", "under v1"],
      [
        "version",
        snapshotOf({
          states: { new: [["engaged", happened("login")]], engaged: [["dormant", inactiveFor("7d")]], dormant: [] },
        }),
      ],
      ["e2", "track", "login", "03-06 00:00"],
      ["replay", "03-07 00:00"],
    ],
    looks: {
      "under v1": {
        transitions: ["null→new 03-01 00:00 by e1", "new→activated 03-01 00:00 by e1"],
        emissions: [
          "customer.created (null→new) 03-01 00:00 by e1",
          "customer.activated (new→activated) 03-01 00:00 by e1",
        ],
        clock: "03-01 00:00, 03-01 00:00, 03-22 00:00",
      },
    },
    end: {
      transitions: ["null→new 03-01 00:00 by e1", "new→activated 03-01 00:00 by e1"],
      emissions: [
        "customer.created (null→new) 03-01 00:00 by e1",
        "customer.activated (new→activated) 03-01 00:00 by e1",
      ],
      clock: "03-06 00:00, 03-06 00:00, —",
    },
    replays: [
      {
        transitions: ["null→new 03-01 00:00 by e1", "new→engaged 03-01 00:00 by e1"],
        clock: "03-06 00:00, 03-06 00:00, 03-13 00:00",
        corrections: ["customer.engaged (activated→engaged) 03-07 00:00 by job"],
      },
    ],
  },
  {
    name: "a replay completes what a late event came too late for, and corrects that alone",
    snapshot: snapshotOf({
      segments: { streak: count("login", "gte", 3, { within: "7d" }) },
      journeys: { j: { start: happened("login"), expiresAfter: "5d", steps: [["pay", happened("paid")]] } },
    }),
    steps: [
      ["e1", "track", "login", "03-01 00:00"],
      ["e2", "track", "login", "03-05 00:00"],
      ["tick", "03-06 12:00"],
      ["e3", "track", "paid", "03-06 13:00", "03-04 00:00"],
      ["e4", "track", "login", "03-06 14:00"],
      ["replay", "03-07 00:00"],
    ],
    end: {
      segments: ["streak in since 03-06 14:00"],
      journeys: ["j expired at pay, 03-01 00:00 – 03-06 00:00: "],
      emissions: [
        "journey.started (j) 03-01 00:00 by e1",
        "journey.expired (j) 03-06 00:00 by timer",
        "segment.entered (streak) 03-06 14:00 by e4",
      ],
      clock: "03-06 14:00, 03-06 14:00, 03-08 00:00",
    },
    replays: [
      {
        segments: ["streak in since 03-06 14:00"],
        journeys: ["j complete at pay, 03-01 00:00 – 03-04 00:00: pay 03-04 00:00 by e3"],
        clock: "03-06 14:00, 03-06 14:00, 03-08 00:00",
        corrections: ["journey.completed (j) 03-07 00:00 by job"],
      },
    ],
  },
  {
    name: "a replay knows the traits from the start and runs their rule once, when they last changed",
    snapshot: freeTrial,
    steps: [
      ["e1", "track", "created", "01-05 00:00"],
      ["e2", "track", "created", "01-06 00:00"],
      ["i3", "identify", { plan: "free" }, "02-01 00:00"],
      ["tick", "02-01 00:01"],
      ["replay", "03-01 00:00"],
    ],
    end: {
      transitions: [
        "null→new 01-05 00:00 by e1",
        "new→trial 02-01 00:00 by identify",
        "trial→activated 02-01 00:00 by identify",
      ],
      rules: ["note pass 02-01 00:00 (traits)"],
      traits: { plan: "free" },
      emissions: [
        "customer.created (null→new) 01-05 00:00 by e1",
        "customer.trial (new→trial) 02-01 00:00 by identify",
        "customer.activated (trial→activated) 02-01 00:00 by identify",
        "traits.noted (note) 02-01 00:00 by identify",
      ],
      clock: "02-01 00:00, 01-06 00:00, —",
    },
    replays: [
      {
        transitions: ["null→new 01-05 00:00 by e1", "new→trial 01-05 00:00 by e1", "trial→activated 01-06 00:00 by e2"],
        rules: ["note pass 02-01 00:00 (traits)"],
        traits: { plan: "free" },
        clock: "02-01 00:00, 01-06 00:00, —",
      },
    ],
  },
];
