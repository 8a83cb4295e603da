import { expect, test } from "vitest";

import { complete, messagesOf, problemsOf } from "./sound.js";

type Rows = [name: string, parts: object, problems: string[]][];

const of = { event: "order placed" };
const withRule = (parts: object) => ({
  rules: [{ id: "r", on: { kind: "traitsChanged" }, then: { kind: "emit", type: "upsell.ready" }, ...parts }],
});
const emits = (type: unknown) => withRule({ then: { kind: "emit", type } });

const RULES: Rows = [
  ["an id with capitals", withRule({ id: "R" }), ["rules[0].id INVALID_NAME"]],
  ["a rule twice", { rules: [withRule({}).rules[0], withRule({}).rules[0]] }, ["rules[1].id DUPLICATE_RULE"]],
  ["no trigger", withRule({ on: null }), ["rules[0].on INVALID_SHAPE"]],
  ["an unknown trigger", withRule({ on: { kind: "timer" } }), ["rules[0].on.kind INVALID_SHAPE"]],
  ["an unknown event", withRule({ on: { kind: "event", of: { event: "x" } } }), ["rules[0].on.of.event UNKNOWN_EVENT"]],
  [
    "a filter on an unknown property",
    withRule({ on: { kind: "event", of: { ...of, where: { kind: "exists", property: "x" } } } }),
    ["rules[0].on.of.where.property UNKNOWN_PROPERTY"],
  ],
  [
    "traits of one name",
    withRule({ on: { kind: "traitsChanged", trait: "plan" } }),
    ["rules[0].on.trait INVALID_SHAPE"],
  ],
  [
    "an unknown segment",
    withRule({ on: { kind: "segmentExited", segment: "x" } }),
    ["rules[0].on.segment UNKNOWN_SEGMENT"],
  ],
  [
    "an unknown signal",
    withRule({ on: { kind: "signalCleared", signal: "x" } }),
    ["rules[0].on.signal UNKNOWN_SIGNAL"],
  ],
  [
    "a condition that refers to nothing",
    withRule({ when: { kind: "segment", segment: "x" } }),
    ["rules[0].when.segment UNKNOWN_SEGMENT"],
  ],
  ["a cooldown that is no duration", withRule({ cooldown: "1mo" }), ["rules[0].cooldown INVALID_DURATION"]],
  ["a cooldown and once", withRule({ cooldown: "1d", once: true }), ["rules[0].cooldown INVALID_SHAPE"]],
  ["no action", withRule({ then: null }), ["rules[0].then INVALID_SHAPE"]],
  ["an unknown action", withRule({ then: { kind: "call" } }), ["rules[0].then.kind INVALID_SHAPE"]],
  [
    "an unknown segment to add to",
    withRule({ then: { kind: "addToSegment", segment: "x" } }),
    ["rules[0].then.segment UNKNOWN_SEGMENT"],
  ],
  [
    "a segment that has a condition",
    withRule({ then: { kind: "addToSegment", segment: "buyers" } }),
    ["rules[0].then.segment SEGMENT_HAS_CONDITION"],
  ],
  [
    "an unknown signal to raise",
    withRule({ then: { kind: "raiseSignal", signal: "x" } }),
    ["rules[0].then.signal UNKNOWN_SIGNAL"],
  ],
  [
    "a signal that has a condition",
    withRule({ then: { kind: "clearSignal", signal: "ordered" } }),
    ["rules[0].then.signal SIGNAL_HAS_CONDITION"],
  ],
  ...["upsell", "Upsell.ready", "upsell.", ".ready", "up-sell.ready", "upsell..ready", `a.${"b".repeat(255)}`].map(
    (type): Rows[number] => [`the event type ${type}`, emits(type), ["rules[0].then.type INVALID_NAME"]],
  ),
  ...["customer.created", "journey.started", "segment.x", "health.changed", "signal.raised.twice"].map(
    (type): Rows[number] => [`the reserved event type ${type}`, emits(type), ["rules[0].then.type RESERVED_NAME"]],
  ),
  ["an event type like a reserved one", emits("customers.ready"), []],
];

test.each(RULES)("a rule with %s is told at its path", (_, parts, problems) => {
  expect(problemsOf(parts, complete)).toEqual(problems);
});

test("what a rule must not change is explained", () => {
  expect(
    messagesOf({
      rules: [
        ...withRule({ then: { kind: "addToSegment", segment: "buyers" } }).rules,
        ...withRule({ id: "s", on: { kind: "signalRaised", signal: "orderd" } }).rules,
      ],
    }),
  ).toEqual([
    'the condition of the segment "buyers" decides who is in it; a rule changes segments without one',
    'there is no signal "orderd"; did you mean "ordered"?',
  ]);
});
