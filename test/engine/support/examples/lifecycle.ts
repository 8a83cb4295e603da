import { activeWithin, count, happened, inactiveFor, property, snapshotOf, trait } from "../builders.js";
import type { Example } from "./example.js";

const quietAfter21Days = snapshotOf({
  states: { activated: [["at_risk", inactiveFor("21d")]], at_risk: [["activated", activeWithin("3d")]] },
});

/** Instants, counts and outcomes worked out by hand: lifecycle and timers. */
export const examples: Example[] = [
  {
    name: "a late event too old to count leaves an inactive customer where it is",
    snapshot: quietAfter21Days,
    steps: [
      ["e1", "track", "login", "01-01 09:00"],
      ["tick", "01-25 00:00"],
      ["e2", "track", "login", "01-25 08:00", "01-05 08:00"],
    ],
    end: {
      transitions: ["null→activated 01-01 09:00 by e1", "activated→at_risk 01-22 09:00 by timer"],
      emissions: [
        "customer.created (null→activated) 01-01 09:00 by e1",
        "customer.at_risk (activated→at_risk) 01-22 09:00 by timer",
      ],
      clock: "01-22 09:00, 01-05 08:00, —",
    },
  },
  {
    name: "a late event recent enough to count is evaluated at the customer's clock",
    snapshot: quietAfter21Days,
    steps: [
      ["e1", "track", "login", "01-01 09:00"],
      ["tick", "01-25 00:00"],
      ["e2", "track", "login", "01-25 08:00", "01-21 10:00"],
    ],
    end: {
      transitions: [
        "null→activated 01-01 09:00 by e1",
        "activated→at_risk 01-22 09:00 by timer",
        "at_risk→activated 01-22 09:00 by e2",
      ],
      emissions: [
        "customer.created (null→activated) 01-01 09:00 by e1",
        "customer.at_risk (activated→at_risk) 01-22 09:00 by timer",
        "customer.activated (at_risk→activated) 01-22 09:00 by e2",
      ],
      clock: "01-22 09:00, 01-21 10:00, 02-11 10:00",
    },
  },
  {
    name: "a due instant that no tick met is evaluated at itself before the next event",
    snapshot: quietAfter21Days,
    steps: [
      ["e1", "track", "login", "01-01 09:00"],
      ["e2", "track", "login", "02-01 12:00"],
    ],
    end: {
      transitions: [
        "null→activated 01-01 09:00 by e1",
        "activated→at_risk 01-22 09:00 by timer",
        "at_risk→activated 02-01 12:00 by e2",
      ],
      emissions: [
        "customer.created (null→activated) 01-01 09:00 by e1",
        "customer.at_risk (activated→at_risk) 01-22 09:00 by timer",
        "customer.activated (at_risk→activated) 02-01 12:00 by e2",
      ],
      clock: "02-01 12:00, 02-01 12:00, 02-22 12:00",
    },
  },
  {
    name: "a timer and an event of one instant are two evaluations, the timer first",
    snapshot: quietAfter21Days,
    steps: [
      ["e1", "track", "login", "01-01 09:00"],
      ["e2", "track", "login", "01-22 09:00"],
    ],
    end: {
      transitions: [
        "null→activated 01-01 09:00 by e1",
        "activated→at_risk 01-22 09:00 by timer",
        "at_risk→activated 01-22 09:00 by e2",
      ],
      emissions: [
        "customer.created (null→activated) 01-01 09:00 by e1",
        "customer.at_risk (activated→at_risk) 01-22 09:00 by timer",
        "customer.activated (at_risk→activated) 01-22 09:00 by e2",
      ],
      clock: "01-22 09:00, 01-22 09:00, 02-12 09:00",
    },
  },
  {
    name: "a customer without events is inactive from the first evaluation on",
    snapshot: quietAfter21Days,
    steps: [
      ["i1", "identify", { plan: "pro" }, "01-01 09:00"],
      ["tick", "01-02 00:00"],
      ["look", "after the first tick"],
      ["tick", "02-01 00:00"],
    ],
    looks: {
      "after the first tick": {
        transitions: ["null→activated 01-01 09:00 by identify"],
        traits: { plan: "pro" },
        emissions: ["customer.created (null→activated) 01-01 09:00 by identify"],
        clock: "01-01 09:00, —, 01-22 09:00",
      },
    },
    end: {
      transitions: ["null→activated 01-01 09:00 by identify", "activated→at_risk 01-22 09:00 by timer"],
      traits: { plan: "pro" },
      emissions: [
        "customer.created (null→activated) 01-01 09:00 by identify",
        "customer.at_risk (activated→at_risk) 01-22 09:00 by timer",
      ],
      clock: "01-22 09:00, —, —",
    },
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
    steps: [
      ["i1", "identify", { plan: "free" }, "03-02 10:00"],
      ["e2", "track", "project_created", "03-02 10:00", "03-02 10:00", { seats: 8 }],
    ],
    end: {
      transitions: [
        "null→new 03-02 10:00 by identify",
        "new→trial 03-02 10:00 by identify",
        "trial→activated 03-02 10:00 by e2",
        "activated→expert 03-02 10:00 by e2",
      ],
      traits: { plan: "free" },
      emissions: [
        "customer.created (null→new) 03-02 10:00 by identify",
        "customer.trial (new→trial) 03-02 10:00 by identify",
        "customer.activated (trial→activated) 03-02 10:00 by e2",
        "customer.expert (activated→expert) 03-02 10:00 by e2",
      ],
      clock: "03-02 10:00, 03-02 10:00, —",
    },
  },
  {
    name: "a terminal state is left by a replay, not by a late event",
    snapshot: snapshotOf({ states: { new: [["churned", inactiveFor("30d")]], churned: "terminal" } }),
    steps: [
      ["e1", "track", "login", "01-01 00:00"],
      ["tick", "02-05 00:00"],
      ["e2", "track", "login", "02-06 00:00", "01-20 00:00"],
      ["replay", "02-06 00:00"],
    ],
    end: {
      transitions: ["null→new 01-01 00:00 by e1", "new→churned 01-31 00:00 by timer"],
      emissions: [
        "customer.created (null→new) 01-01 00:00 by e1",
        "customer.churned (new→churned) 01-31 00:00 by timer",
      ],
      clock: "01-31 00:00, 01-20 00:00, —",
    },
    replays: [
      {
        transitions: ["null→new 01-01 00:00 by e1"],
        clock: "01-20 00:00, 01-20 00:00, 02-19 00:00",
        corrections: ["customer.new (churned→new) 02-06 00:00 by job"],
      },
    ],
  },
  {
    name: "flapping is blocked within an evaluation, reported, and tried again at the next operation",
    snapshot: snapshotOf({ states: { a: [["b", happened("login")]], b: [["a", happened("login")]] } }),
    steps: [
      ["e1", "track", "login", "03-02 10:00"],
      ["e2", "track", "other", "03-02 10:00"],
      ["tick", "03-03 00:00"],
    ],
    end: {
      transitions: ["null→a 03-02 10:00 by e1", "a→b 03-02 10:00 by e1", "b→a 03-02 10:00 by e2"],
      blocked: ["b→a 03-02 10:00", "a→b 03-02 10:00"],
      emissions: [
        "customer.created (null→a) 03-02 10:00 by e1",
        "customer.b (a→b) 03-02 10:00 by e1",
        "customer.a (b→a) 03-02 10:00 by e2",
      ],
      clock: "03-02 10:00, 03-02 10:00, —",
    },
  },
];
