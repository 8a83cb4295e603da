import { happened, snapshotOf } from "../builders.js";
import type { Example } from "./example.js";

const checklist = snapshotOf({
  journeys: {
    onb: {
      start: happened("signed_up"),
      expiresAfter: "30d",
      steps: [
        ["create", happened("created")],
        ["invite", happened("invited")],
      ],
    },
  },
});

/** Instants, counts and outcomes worked out by hand: journeys. */
export const examples: Example[] = [
  {
    name: "a checklist remembers what came since its start, and completes its steps in their order",
    snapshot: checklist,
    steps: [
      ["e1", "track", "signed_up", "03-02 10:00"],
      ["e2", "track", "invited", "03-02 10:05"],
      ["e3", "track", "created", "03-02 10:05"],
    ],
    end: {
      journeys: [
        "onb complete at invite, 03-02 10:00 – 03-02 10:05: create 03-02 10:05 by e3, invite 03-02 10:05 by e3",
      ],
      emissions: [
        "journey.started (onb) 03-02 10:00 by e1",
        "journey.step_completed (onb create) 03-02 10:05 by e3",
        "journey.step_completed (onb invite) 03-02 10:05 by e3",
        "journey.completed (onb) 03-02 10:05 by e3",
      ],
      clock: "03-02 10:05, 03-02 10:05, —",
    },
  },
  {
    name: "a step of a funnel counts what is later in order than the operation that completed the step before",
    snapshot: snapshotOf({
      journeys: {
        onb: {
          start: happened("signed_up"),
          expiresAfter: "30d",
          steps: [
            ["create", happened("created")],
            ["invite", happened("invited"), "previousStep"],
          ],
        },
      },
    }),
    steps: [
      ["e1", "track", "signed_up", "03-02 10:00"],
      ["e2", "track", "invited", "03-02 10:05"],
      ["e3", "track", "created", "03-02 10:05"],
      ["look", "after e3"],
      ["e4", "track", "invited", "03-02 10:05"],
    ],
    looks: {
      "after e3": {
        journeys: ["onb active at invite, 03-02 10:00 – : create 03-02 10:05 by e3"],
        emissions: ["journey.started (onb) 03-02 10:00 by e1", "journey.step_completed (onb create) 03-02 10:05 by e3"],
        clock: "03-02 10:05, 03-02 10:05, 04-01 10:00",
      },
    },
    end: {
      journeys: [
        "onb complete at invite, 03-02 10:00 – 03-02 10:05: create 03-02 10:05 by e3, invite 03-02 10:05 by e4",
      ],
      emissions: [
        "journey.started (onb) 03-02 10:00 by e1",
        "journey.step_completed (onb create) 03-02 10:05 by e3",
        "journey.step_completed (onb invite) 03-02 10:05 by e4",
        "journey.completed (onb) 03-02 10:05 by e4",
      ],
      clock: "03-02 10:05, 03-02 10:05, —",
    },
  },
  {
    name: "the event that starts a journey is no step of it",
    snapshot: snapshotOf({ journeys: { j: { start: happened("login"), steps: [["again", happened("login")]] } } }),
    steps: [
      ["e1", "track", "login", "03-02 10:00"],
      ["look", "after e1"],
      ["e2", "track", "login", "03-02 10:00"],
    ],
    looks: {
      "after e1": {
        journeys: ["j active at again, 03-02 10:00 – : "],
        emissions: ["journey.started (j) 03-02 10:00 by e1"],
        clock: "03-02 10:00, 03-02 10:00, —",
      },
    },
    end: {
      journeys: ["j complete at again, 03-02 10:00 – 03-02 10:00: again 03-02 10:00 by e2"],
      emissions: [
        "journey.started (j) 03-02 10:00 by e1",
        "journey.step_completed (j again) 03-02 10:00 by e2",
        "journey.completed (j) 03-02 10:00 by e2",
      ],
      clock: "03-02 10:00, 03-02 10:00, —",
    },
  },
  {
    name: "a journey expires at its due instant, however late that is found",
    snapshot: checklist,
    steps: [
      ["e1", "track", "signed_up", "03-01 08:00"],
      ["e2", "track", "created", "03-01 09:00"],
      ["tick", "04-03 08:00"],
    ],
    end: {
      journeys: ["onb expired at invite, 03-01 08:00 – 03-31 08:00: create 03-01 09:00 by e2"],
      emissions: [
        "journey.started (onb) 03-01 08:00 by e1",
        "journey.step_completed (onb create) 03-01 09:00 by e2",
        "journey.expired (onb) 03-31 08:00 by timer",
      ],
      clock: "03-31 08:00, 03-01 09:00, —",
    },
  },
  {
    name: "a journey expires before a step at the same instant",
    snapshot: checklist,
    steps: [
      ["e1", "track", "signed_up", "03-01 08:00"],
      ["e2", "track", "created", "03-01 09:00"],
      ["e3", "track", "invited", "03-31 08:00"],
    ],
    end: {
      journeys: ["onb expired at invite, 03-01 08:00 – 03-31 08:00: create 03-01 09:00 by e2"],
      emissions: [
        "journey.started (onb) 03-01 08:00 by e1",
        "journey.step_completed (onb create) 03-01 09:00 by e2",
        "journey.expired (onb) 03-31 08:00 by timer",
      ],
      clock: "03-31 08:00, 03-31 08:00, —",
    },
  },
];
