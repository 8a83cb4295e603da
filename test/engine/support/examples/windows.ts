import { count, happened, snapshotOf } from "../builders.js";
import type { Example } from "./example.js";

/** Instants, counts and outcomes worked out by hand: windows and counts. */
export const examples: Example[] = [
  {
    name: "an event exactly as old as the window has left it",
    snapshot: snapshotOf({ segments: { weekly: happened("login", { within: "7d" }) } }),
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
    snapshot: snapshotOf({ segments: { quiet: count("login", "lte", 1, { within: "7d" }) } }),
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
];
