import { expect, test } from "vitest";

import { complete, messagesOf, problemsOf } from "./sound.js";

type Rows = [parts: object, ...problems: string[]][];

const of = { event: "order placed" };
const withRule = (parts: object) => ({
  rules: [{ id: "r", on: { kind: "traitsChanged" }, then: { kind: "emit", type: "upsell.ready" }, ...parts }],
});
const emits = (type: unknown) => withRule({ then: { kind: "emit", type } });

const RULES: Rows = [
  [withRule({ id: "R" }), "rules[0].id INVALID_NAME"],
  [{ rules: [withRule({}).rules[0], withRule({}).rules[0]] }, "rules[1].id DUPLICATE_RULE"],
  [withRule({ on: null }), "rules[0].on INVALID_SHAPE"],
  [withRule({ on: { kind: "timer" } }), "rules[0].on.kind INVALID_SHAPE"],
  [withRule({ on: { kind: "event", of: { event: "x" } } }), "rules[0].on.of.event UNKNOWN_EVENT"],
  [
    withRule({ on: { kind: "event", of: { ...of, where: { kind: "exists", property: "x" } } } }),
    "rules[0].on.of.where.property UNKNOWN_PROPERTY",
  ],
  [withRule({ on: { kind: "traitsChanged", trait: "plan" } }), "rules[0].on.trait INVALID_SHAPE"],
  [withRule({ on: { kind: "segmentExited", segment: "x" } }), "rules[0].on.segment UNKNOWN_SEGMENT"],
  [withRule({ on: { kind: "signalCleared", signal: "x" } }), "rules[0].on.signal UNKNOWN_SIGNAL"],
  [withRule({ when: { kind: "segment", segment: "x" } }), "rules[0].when.segment UNKNOWN_SEGMENT"],
  [withRule({ cooldown: "1mo" }), "rules[0].cooldown INVALID_DURATION"],
  [withRule({ cooldown: "1d", once: true }), "rules[0].cooldown INVALID_SHAPE"],
  [withRule({ then: null }), "rules[0].then INVALID_SHAPE"],
  [withRule({ then: { kind: "call" } }), "rules[0].then.kind INVALID_SHAPE"],
  [withRule({ then: { kind: "addToSegment", segment: "x" } }), "rules[0].then.segment UNKNOWN_SEGMENT"],
  [withRule({ then: { kind: "addToSegment", segment: "buyers" } }), "rules[0].then.segment SEGMENT_HAS_CONDITION"],
  [withRule({ then: { kind: "raiseSignal", signal: "x" } }), "rules[0].then.signal UNKNOWN_SIGNAL"],
  [withRule({ then: { kind: "clearSignal", signal: "ordered" } }), "rules[0].then.signal SIGNAL_HAS_CONDITION"],
  ...["upsell", "Upsell.ready", "upsell.", ".ready", "up-sell.ready", "upsell..ready", `a.${"b".repeat(255)}`].map(
    (type): Rows[number] => [emits(type), "rules[0].then.type INVALID_NAME"],
  ),
  ...["customer.created", "journey.started", "segment.x", "health.changed", "signal.raised.twice"].map(
    (type): Rows[number] => [emits(type), "rules[0].then.type RESERVED_NAME"],
  ),
  [emits("customers.ready")],
];

test.each(RULES)("a rule with %j is told: %s", (parts, ...problems) => {
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
