import { expect, test } from "vitest";

import { complete, ordered, problemsOf } from "./sound.js";

type Rows = [name: string, parts: object, problems: string[]][];

const withSignal = (parts: object) => ({ signals: [{ id: "s", severity: "info", ...parts }] });

const SIGNALS: Rows = [
  ["an id with a dot", withSignal({ id: "a.b" }), ["signals[0].id INVALID_NAME"]],
  [
    "a signal twice",
    { signals: [withSignal({}).signals[0], withSignal({}).signals[0]] },
    ["signals[1].id DUPLICATE_SIGNAL"],
  ],
  ["no severity", withSignal({ severity: null }), ["signals[0].severity INVALID_SHAPE"]],
  ["an unknown severity", withSignal({ severity: "fatal" }), ["signals[0].severity INVALID_SHAPE"]],
  ["an empty message", withSignal({ message: "" }), ["signals[0].message INVALID_SHAPE"]],
  ["a message that is too long", withSignal({ message: "x".repeat(1_001) }), ["signals[0].message INVALID_SHAPE"]],
  [
    "a condition that refers to nothing",
    withSignal({ when: { kind: "traitExists", trait: "x" } }),
    ["signals[0].when.trait UNKNOWN_TRAIT"],
  ],
  ["a time that is no duration", withSignal({ for: "soon" }), ["signals[0].for INVALID_DURATION"]],
  ["a time and a condition", withSignal({ for: "1d", when: ordered }), ["signals[0].for INVALID_SHAPE"]],
];

test.each(SIGNALS)("a signal with %s is told at its path", (_, parts, problems) => {
  expect(problemsOf(parts, complete)).toEqual(problems);
});
