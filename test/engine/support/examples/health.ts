import type { Health } from "../../../../src/model/snapshot/types.js";
import { inactiveFor, of, snapshotOf } from "../builders.js";
import type { Example } from "./example.js";

const health: Health = {
  components: [
    {
      id: "adoption",
      weight: 0.5,
      score: { kind: "scale", of: { kind: "count", of: of("used"), within: "30d" }, from: 0, to: 4 },
    },
    {
      id: "engagement",
      weight: 0.5,
      score: {
        kind: "steps",
        of: { kind: "daysSince", which: "last", of: of("used") },
        steps: [
          [2, 100],
          [7, 50],
        ],
        otherwise: 0,
      },
    },
  ],
  bands: [
    { id: "healthy", from: 70 },
    { id: "at_risk", from: 40 },
    { id: "critical", from: 0 },
  ],
};

/** Instants, counts and outcomes worked out by hand: health. */
export const examples: Example[] = [
  {
    name: "health that nobody reads is refreshed at the customer's minute of the day",
    snapshot: snapshotOf({ health }),
    steps: [
      ["e1", "track", "used", "03-01 12:00"],
      ["e2", "track", "used", "03-01 12:00"],
      ["look", "after e2"],
      ["tick", "03-20 00:00"],
    ],
    looks: {
      "after e2": {
        health: ["62.5 at_risk 03-01 12:00", "75 healthy 03-01 12:00"],
        emissions: [
          "health.changed (null→at_risk 62.5) 03-01 12:00 by e1",
          "health.changed (at_risk→healthy 75) 03-01 12:00 by e2",
        ],
        clock: "03-01 12:00, 03-01 12:00, 03-05 05:30",
      },
    },
    end: {
      health: [
        "62.5 at_risk 03-01 12:00",
        "75 healthy 03-01 12:00",
        "50 at_risk 03-05 05:30",
        "25 critical 03-10 05:30",
      ],
      emissions: [
        "health.changed (null→at_risk 62.5) 03-01 12:00 by e1",
        "health.changed (at_risk→healthy 75) 03-01 12:00 by e2",
        "health.changed (healthy→at_risk 50) 03-05 05:30 by timer",
        "health.changed (at_risk→critical 25) 03-10 05:30 by timer",
      ],
      clock: "03-10 05:30, 03-01 12:00, 04-01 05:30",
    },
  },
  {
    name: "an operation scores health, an unrelated timer does not",
    snapshot: snapshotOf({ health, signals: { still: { when: inactiveFor("3d") } } }),
    steps: [
      ["e1", "track", "used", "03-01 00:00"],
      ["tick", "03-04 00:00"],
      ["look", "after the tick"],
      ["e2", "track", "other", "03-04 00:30"],
    ],
    looks: {
      "after the tick": {
        health: ["62.5 at_risk 03-01 00:00"],
        signals: ["still raised 03-04 00:00"],
        emissions: [
          "health.changed (null→at_risk 62.5) 03-01 00:00 by e1",
          "signal.raised (still warning) 03-04 00:00 by timer",
        ],
        clock: "03-04 00:00, 03-01 00:00, 03-04 05:30",
      },
    },
    end: {
      health: ["62.5 at_risk 03-01 00:00", "37.5 critical 03-04 00:30"],
      signals: ["still cleared (raised 03-04 00:00) 03-04 00:30"],
      emissions: [
        "health.changed (null→at_risk 62.5) 03-01 00:00 by e1",
        "signal.raised (still warning) 03-04 00:00 by timer",
        "health.changed (at_risk→critical 37.5) 03-04 00:30 by e2",
        "signal.cleared (still warning) 03-04 00:30 by e2",
      ],
      clock: "03-04 00:30, 03-04 00:30, 03-07 00:30",
    },
  },
];
