import { all, count, inactiveFor, inSegment, not, of, snapshotOf, trait } from "../builders.js";
import type { Example } from "./example.js";

/** Instants, counts and outcomes worked out by hand: rules, segments and signals. */
export const examples: Example[] = [
  {
    name: "a rule adds to a segment, which the lifecycle reads at the same instant",
    snapshot: snapshotOf({
      states: { new: [["key_account", inSegment("vip")]], key_account: [] },
      segments: { vip: null },
      rules: { promote: { on: { kind: "event", of: of("paid") }, then: { kind: "addToSegment", segment: "vip" } } },
    }),
    steps: [["e1", "track", "paid", "03-02 10:00"]],
    end: {
      transitions: ["null→new 03-02 10:00 by e1", "new→key_account 03-02 10:00 by e1"],
      segments: ["vip in since 03-02 10:00"],
      rules: ["promote pass 03-02 10:00 (event:paid)"],
      emissions: [
        "customer.created (null→new) 03-02 10:00 by e1",
        "segment.entered (vip) 03-02 10:00 by e1",
        "customer.key_account (new→key_account) 03-02 10:00 by e1",
      ],
      clock: "03-02 10:00, 03-02 10:00, —",
    },
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
    name: "a rule fails by its condition, then passes, skips in its cooldown, and passes at the end of it",
    snapshot: snapshotOf({
      rules: {
        upsell: {
          on: { kind: "event", of: of("paid") },
          when: trait("plan", "eq", "pro"),
          cooldown: "30d",
          then: { kind: "emit", type: "upsell.ready" },
        },
      },
    }),
    steps: [
      ["e1", "track", "paid", "01-01 00:00"],
      ["i2", "identify", { plan: "pro" }, "01-01 06:00"],
      ["e3", "track", "paid", "01-02 00:00"],
      ["e4", "track", "paid", "01-31 23:59"],
      ["e5", "track", "paid", "02-01 00:00"],
    ],
    end: {
      rules: [
        "upsell fail 01-01 00:00 (event:paid)",
        "upsell pass 01-02 00:00 (event:paid)",
        "upsell skip 01-31 23:59 (event:paid)",
        "upsell pass 02-01 00:00 (event:paid)",
      ],
      traits: { plan: "pro" },
      emissions: ["upsell.ready (upsell) 01-02 00:00 by e3", "upsell.ready (upsell) 02-01 00:00 by e5"],
      clock: "02-01 00:00, 02-01 00:00, —",
    },
  },
  {
    name: "a signal is raised once at its due instant and cleared once",
    snapshot: snapshotOf({ signals: { going_quiet: { when: inactiveFor("10d") } } }),
    steps: [
      ["e1", "track", "login", "03-01 00:00"],
      ["tick", "03-20 00:00"],
      ["e2", "track", "login", "03-20 12:00"],
      ["e3", "track", "login", "03-20 13:00"],
    ],
    end: {
      signals: ["going_quiet cleared (raised 03-11 00:00) 03-20 12:00"],
      emissions: [
        "signal.raised (going_quiet warning) 03-11 00:00 by timer",
        "signal.cleared (going_quiet warning) 03-20 12:00 by e2",
      ],
      clock: "03-20 13:00, 03-20 13:00, 03-30 13:00",
    },
  },
];
