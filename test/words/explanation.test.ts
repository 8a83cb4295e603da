import { expect, test } from "vitest";

import { explain } from "../../src/engine/index.js";
import type { Explanation } from "../../src/engine/conditions/leaf.js";
import { factsOf, measuredInWords } from "../../src/words/explanation.js";
import { compared, modelOf, number, per, seen, traitNumber } from "../engine/support/builders.js";
import { Run } from "../engine/support/runner.js";

const HOUR = 3_600_000;
const words = { now: 0, at: (iso: string) => iso.slice(11, 16), ago: () => "soon" };

test("a ratio shows both numbers, and when it starts or ends by itself", () => {
  const day = { within: "1d" };
  const model = modelOf({
    segments: {
      trend: compared(per(number("a", day), number("a", { ...day, previous: true })), "lte", 0.5),
      share: compared(per(number("a", day), traitNumber("seats")), "gte", 1),
    },
  });
  const run = new Run(model);
  run.take([seen(1, 0, "a"), seen(2, 13 * HOUR, "a"), seen(3, 25 * HOUR, "a"), seen(4, 36 * HOUR, "a")]);
  const explanations = explain(model, run.state).segments.map(({ condition }) => condition as unknown as Explanation);
  expect(explanations.map((one) => factsOf(words, one))).toEqual([
    ["it is 3 (of 3 and 1)", "2.5 too high", "comes by itself soon (01:00)"],
    ["there is none (of 3 and nothing)"],
  ]);
  expect(measuredInWords(explanations[0]!)).toBe("3 (of 3 and 1)");
});

test("a date trait is shown as a day if it has no time, otherwise as an instant", () => {
  const near = { kind: "traitDateWithin", expected: "within 14d", met: false, flipsAt: null, missing: null };
  const shown = (actual: string) => factsOf(words, { ...near, text: "renews_on within 14d", actual });
  expect(shown("2026-05-01T00:00:00.000Z")).toEqual(["it is 2026-05-01 (soon)"]);
  expect(shown("2026-05-01T10:30:00.000Z")).toEqual(["it is 10:30 (soon)"]);
});
