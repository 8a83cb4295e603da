import { describe, expect, it } from "vitest";

import type { Model } from "../../src/engine/index.js";
import {
  activeWithin,
  all,
  count,
  dateWithin,
  happened,
  inactiveFor,
  inSegment,
  modelOf,
  not,
  property,
  trait,
  traitExists,
} from "./support/builders.js";
import { LiveCustomer, type Outcome, type Step } from "./support/live.js";

interface Example {
  name: string;
  model: Model;
  steps: Step[];
  looks?: Record<string, Outcome>;
  end: Outcome;
}

const quietAfter21Days = modelOf({
  states: { activated: [["at_risk", inactiveFor("21d")]], at_risk: [["activated", activeWithin("3d")]] },
});
const backfilled = modelOf({
  states: {
    new: [["activated", happened("login")]],
    activated: [["at_risk", inactiveFor("21d")]],
    at_risk: [["activated", activeWithin("3d")]],
  },
});
const freeTrial = modelOf({
  states: {
    new: [["trial", trait("plan", "eq", "free")]],
    trial: [["activated", count("created", "gte", 2)]],
    activated: [],
  },
});

/** `clock` is: evaluatedThrough, lastEventAt, nextDueAt. A list that is left out is empty. */
const examples: Example[] = [
  {
    name: "an event exactly as old as the window has left it",
    model: modelOf({ segments: { weekly: happened("login", { within: "7d" }) } }),
    steps: [
      ["e1", "track", "login", "03-02 10:00"],
      ["look", "after e1"],
      ["e2", "track", "other", "03-09 10:00"],
    ],
    looks: {
      "after e1": {
        segments: ["weekly in since 03-02 10:00"],
        emissions: ["segment.entered (weekly) 03-02 10:00 by e1"],
        clock: "03-02 10:00, 03-02 10:00, 03-09 10:00",
      },
    },
    end: {
      segments: ["weekly out (in 03-02 10:00, out 03-09 10:00)"],
      emissions: ["segment.entered (weekly) 03-02 10:00 by e1", "segment.exited (weekly) 03-09 10:00 by timer"],
      clock: "03-09 10:00, 03-09 10:00, —",
    },
  },
  {
    name: "a count that falls flips at the instant its limit is passed, not at every one that leaves",
    model: modelOf({ segments: { quiet: count("login", "lte", 1, { within: "7d" }) } }),
    steps: [
      ["e1", "track", "login", "03-01 00:00"],
      ["e2", "track", "login", "03-03 00:00"],
      ["e3", "track", "login", "03-04 00:00"],
      ["look", "after e3"],
      ["tick", "03-20 00:00"],
    ],
    looks: {
      "after e3": {
        segments: ["quiet out (in 03-01 00:00, out 03-03 00:00)"],
        emissions: ["segment.entered (quiet) 03-01 00:00 by e1", "segment.exited (quiet) 03-03 00:00 by e2"],
        clock: "03-04 00:00, 03-04 00:00, 03-10 00:00",
      },
    },
    end: {
      segments: ["quiet out (in 03-01 00:00, out 03-03 00:00)", "quiet in since 03-10 00:00"],
      emissions: [
        "segment.entered (quiet) 03-01 00:00 by e1",
        "segment.exited (quiet) 03-03 00:00 by e2",
        "segment.entered (quiet) 03-10 00:00 by timer",
      ],
      clock: "03-10 00:00, 03-04 00:00, —",
    },
  },
  {
    name: "a late event too old to count leaves an inactive customer where it is",
    model: quietAfter21Days,
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
    model: quietAfter21Days,
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
    model: quietAfter21Days,
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
    model: quietAfter21Days,
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
    model: quietAfter21Days,
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
    model: modelOf({
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
    name: "a late event does not leave a terminal state",
    model: modelOf({ states: { new: [["churned", inactiveFor("30d")]], churned: "terminal" } }),
    steps: [
      ["e1", "track", "login", "01-01 00:00"],
      ["tick", "02-05 00:00"],
      ["e2", "track", "login", "02-06 00:00", "01-20 00:00"],
    ],
    end: {
      transitions: ["null→new 01-01 00:00 by e1", "new→churned 01-31 00:00 by timer"],
      emissions: [
        "customer.created (null→new) 01-01 00:00 by e1",
        "customer.churned (new→churned) 01-31 00:00 by timer",
      ],
      clock: "01-31 00:00, 01-20 00:00, —",
    },
  },
  {
    name: "flapping is blocked within an evaluation, reported, and tried again at the next operation",
    model: modelOf({ states: { a: [["b", happened("login")]], b: [["a", happened("login")]] } }),
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
  {
    name: "a segment that the lifecycle reads is evaluated before it",
    model: modelOf({
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
    steps: [
      ["e1", "track", "created", "03-02 10:00"],
      ["e2", "track", "created", "03-02 10:01"],
    ],
    end: {
      transitions: ["null→new 03-02 10:00 by e1", "new→big_active 03-02 10:01 by e2"],
      segments: ["big in since 03-02 10:01"],
      emissions: [
        "customer.created (null→new) 03-02 10:00 by e1",
        "segment.entered (big) 03-02 10:01 by e2",
        "customer.big_active (new→big_active) 03-02 10:01 by e2",
      ],
      clock: "03-02 10:01, 03-02 10:01, —",
    },
  },
  {
    name: "an identify at the head of a backfill leaves the clock to the history behind it",
    model: freeTrial,
    steps: [
      ["i1", "identify", { plan: "free" }, "06-01 10:00"],
      ["e2", "track", "created", "06-01 10:00", "01-05 00:00"],
      ["e3", "track", "created", "06-01 10:00", "02-05 00:00"],
      ["look", "after e3"],
      ["tick", "06-01 10:00:20"],
      ["look", "before settle"],
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
      "before settle": {
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
      traits: { plan: "free" },
      emissions: [
        "customer.created (null→new) 01-05 00:00 by e2",
        "customer.trial (new→trial) 01-05 00:00 by e2",
        "customer.activated (trial→activated) 02-05 00:00 by e3",
      ],
      clock: "06-01 10:00, 02-05 00:00, —",
    },
  },
  {
    name: "an identify between two events of one batch holds for the second",
    model: freeTrial,
    steps: [
      ["e1", "track", "created", "06-01 10:00", "01-05 00:00"],
      ["i2", "identify", { plan: "free" }, "06-01 10:00"],
      ["e3", "track", "created", "06-01 10:00", "01-06 00:00"],
      ["tick", "06-01 10:01"],
    ],
    end: {
      transitions: ["null→new 01-05 00:00 by e1", "new→trial 01-06 00:00 by e3", "trial→activated 01-06 00:00 by e3"],
      traits: { plan: "free" },
      emissions: [
        "customer.created (null→new) 01-05 00:00 by e1",
        "customer.trial (new→trial) 01-06 00:00 by e3",
        "customer.activated (trial→activated) 01-06 00:00 by e3",
      ],
      clock: "06-01 10:00, 01-06 00:00, —",
    },
  },
  {
    name: "null removes a trait, and removing an absent one makes nothing due",
    model: modelOf({ segments: { planned: traitExists("plan"), not_free: trait("plan", "ne", "free") } }),
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
    model: freeTrial,
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
    model: freeTrial,
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
    model: backfilled,
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
    name: "what arrives after the timers of a settled backfill fired is late",
    model: backfilled,
    steps: [
      ["e1", "track", "login", "06-01 10:00", "01-01 00:00"],
      ["tick", "06-01 10:00:40"],
      ["look", "after the tick"],
      ["e2", "track", "login", "06-01 10:01", "01-10 00:00"],
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
  },
  {
    name: "a state that another version does not know is kept and has no transitions",
    model: backfilled,
    steps: [
      ["e1", "track", "login", "03-01 00:00"],
      ["look", "under the first version"],
      [
        "version",
        modelOf({
          states: {
            new: [["engaged", happened("login")]],
            engaged: [["dormant", inactiveFor("7d")]],
            dormant: [],
          },
        }),
      ],
      ["look", "before the first evaluation under the second"],
      ["e2", "track", "login", "03-06 00:00"],
    ],
    looks: {
      "under the first version": {
        transitions: ["null→new 03-01 00:00 by e1", "new→activated 03-01 00:00 by e1"],
        emissions: [
          "customer.created (null→new) 03-01 00:00 by e1",
          "customer.activated (new→activated) 03-01 00:00 by e1",
        ],
        clock: "03-01 00:00, 03-01 00:00, 03-22 00:00",
      },
      "before the first evaluation under the second": {
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
  },
  {
    // A repeated key is answered at the door and makes no operation, so the engine sees e1 and e2 only.
    name: "an operation counts once",
    model: modelOf({ states: { new: [["activated", count("created", "gte", 2)]], activated: [] } }),
    steps: [
      ["e1", "track", "created", "03-02 10:00"],
      ["look", "after e1"],
      ["e2", "track", "created", "03-02 10:02"],
    ],
    looks: {
      "after e1": {
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
    model: modelOf({ segments: { renewal: dateWithin("renewsOn", "30d") }, traits: { renewsOn: { type: "date" } } }),
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
    model: freeTrial,
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
        traits: { plan: "pro" },
        emissions: ["customer.created (null→new) 03-01 00:00 by e1"],
        clock: "03-02 10:00, 03-01 00:00, —",
      },
    },
    end: {
      transitions: ["null→new 03-01 00:00 by e1", "new→trial 03-03 10:00 by identify"],
      traits: { plan: "pro" },
      emissions: [
        "customer.created (null→new) 03-01 00:00 by e1",
        "customer.trial (new→trial) 03-03 10:00 by identify",
      ],
      clock: "03-03 10:05, 03-01 00:00, —",
    },
  },
];

describe("worked examples", () => {
  it.each(examples)("$name", ({ model, steps, looks = {}, end }) => {
    const customer = new LiveCustomer(model, steps);
    for (const [name, expected] of Object.entries(looks))
      expect(customer.looks[name], name).toEqual(complete(expected));
    expect(customer.outcome()).toEqual(complete(end));
  });
});

function complete(outcome: Outcome): Required<Outcome> {
  return { transitions: [], segments: [], emissions: [], blocked: [], traits: {}, ...outcome };
}
