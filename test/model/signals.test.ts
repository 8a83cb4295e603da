import { expect, test } from "vitest";

import { complete, ordered, problemsOf } from "./sound.js";

type Rows = [parts: object, ...problems: string[]][];

const withSignal = (parts: object) => ({ signals: [{ id: "s", severity: "info", ...parts }] });

const SIGNALS: Rows = [
  [withSignal({ id: "a.b" }), "signals[0].id INVALID_NAME"],
  [{ signals: [withSignal({}).signals[0], withSignal({}).signals[0]] }, "signals[1].id DUPLICATE_SIGNAL"],
  [withSignal({ severity: null }), "signals[0].severity INVALID_SHAPE"],
  [withSignal({ severity: "fatal" }), "signals[0].severity INVALID_SHAPE"],
  [withSignal({ message: "" }), "signals[0].message INVALID_SHAPE"],
  [withSignal({ message: "x".repeat(1_001) }), "signals[0].message INVALID_SHAPE"],
  [withSignal({ when: { kind: "traitExists", trait: "x" } }), "signals[0].when.trait UNKNOWN_TRAIT"],
  [withSignal({ for: "soon" }), "signals[0].for INVALID_DURATION"],
  [withSignal({ for: "1d", when: ordered }), "signals[0].for INVALID_SHAPE"],
];

test.each(SIGNALS)("a signal with %j is told: %s", (parts, ...problems) => {
  expect(problemsOf(parts, complete)).toEqual(problems);
});
