/** Mistakes that both the type checker and the model find are reported once, at their position and with a fix. */
import { expect, test } from "vitest";

import { diagnose, inOneLine } from "./project.js";

const HEAD = `
import { addTo, daysSince, defineModel, emit, event, health, inactiveFor, journey, lifecycle, rule, scale, segment, sequence, signal, step, steps } from "svc-success";
const order = event("order");
const good = segment("good", { when: order.happened() });
const stages = lifecycle({ initial: "a", states: { a: {} } });
void [addTo, daysSince, emit, health, inactiveFor, journey, rule, scale, sequence, signal, step, steps];
`;

/** The diagnostics of a model with these parts, in one line each; the parts begin in line 7, column 30. */
async function diagnosticsOf(parts: string, before = ""): Promise<string[]> {
  const found = await diagnose(`${HEAD}export default defineModel({ ${parts} });\n${before}`, { types: true });
  return found.map((one) => inOneLine(one).replace("svc.config.ts:", ""));
}

const starting = (text: string) => expect.stringMatching(new RegExp(`^${text.replace(/[()[\].]/g, "\\$&")}`)) as string;
const SCALE = (range: string) => `scale(order.count(), { ${range} })`;

test.each<[parts: string, expected: string]>([
  [
    `events: { order }, lifecycle: lifecycle({ initial: "nwe", states: { new: { to: { old: order.happened() } }, old: {} } })`,
    '7:72-79 UNKNOWN_STATE: the lifecycle has no state "nwe"',
  ],
  [
    `events: { order }, journeys: [journey("j", { start: order.happened(), steps: [step("s", order.happened()), step("s", order.never())] })]`,
    '7:142-145 DUPLICATE_STEP: there is another step of this journey "s"; give one of the steps another id',
  ],
  [
    `events: { order }, segments: [good, "stray"]`,
    "7:66-73 NOT_A_SEGMENT: segments[1] is not a segment; list only what segment(…) returns",
  ],
  [
    `events: { order }, segments: [good], signals: [signal("s", { severity: "warn", for: "3d" })]`,
    '7:91-99 TYPE_ERROR: expected one of "info", "warning", "critical", but this is "warn"',
  ],
  [
    `events: { order }, health: health({ components: { use: { weight: 1, score: scale(order.count(), { from: 0, to: 9 }) } }, bands: { all: "0" } })`,
    "7:160-163 TYPE_ERROR: expected a number, but this is a text; give a number",
  ],
])("%s is one diagnostic", async (parts, expected) => {
  expect(await diagnosticsOf(parts)).toEqual([starting(expected)]);
});

const BANDS = 'the last band, "low", is not from 0, so a score below 10 would have no band; let one band begin at 0';

test.each<[scored: string, bands: string, expected: string[]]>([
  [
    "order.count()",
    "all: 0",
    ["TYPE_ERROR: expected a score, but this is a number that is not compared yet; score it"],
  ],
  [
    "daysSince(order)",
    "all: 0",
    ["TYPE_ERROR: expected a score, but this is a number of days; score it, with scale(…)"],
  ],
  ["good", "all: 0", ["TYPE_ERROR: expected a score, but this is a segment; give a score: scale(…), steps(…)"]],
  [SCALE("from: 0, to: 9"), "low: 10, high: 50", [`INVALID_VALUE: ${BANDS}`]],
  [SCALE("from: 0, to: 9"), "low: 0, high: 0", ["INVALID_VALUE: bands are listed"]],
  [SCALE("from: 3, to: 3"), "all: 0", ['INVALID_VALUE: must differ from "from", which is 3, too; give two different']],
  ["steps(order.count(), [[5, 1], [2, 2]], 3)", "all: 0", ["INVALID_VALUE: limits ascend"]],
  [SCALE("min: 0, max: 9"), "low: 10", ['TYPE_ERROR: "min" is not known here', `INVALID_VALUE: ${BANDS}`]],
])("a score by %s with the bands %s gets a fix", async (score, bands, expected) => {
  const found = await diagnosticsOf(
    `events: { order }, segments: [good], health: health({ components: { a: { weight: 1, score: ${score} } }, bands: { ${bands} } })`,
  );
  expect(found.map((one) => one.replace(/^\S+ /, ""))).toEqual(expected.map(starting));
  expect(found.filter((one) => /write a value that the declaration allows/.test(one))).toEqual([]);
});

test("a rule that changes a segment with a condition names the place of the segment", async () => {
  const rules = `rules: [rule("r", { on: order, then: addTo(good) })]`;
  expect(await diagnosticsOf(`events: { order }, segments: [good], ${rules}`)).toEqual([
    starting('7:110-114 SEGMENT_HAS_CONDITION: the segment "good" has a condition'),
  ]);
  expect(await diagnosticsOf(`events: { order }, segments: [good], ${rules}`)).toEqual([
    expect.stringContaining('; remove "when" from the segment "good" (svc.config.ts:4), or this action from the rule'),
  ]);
});

test("bands of which none begins at 0 are reported at the lowest band", async () => {
  const scored = `components: { a: { weight: 1, score: ${SCALE("from: 0, to: 9")} } }`;
  expect(await diagnosticsOf(`events: { order }, health: health({ ${scored}, bands: { low: 10, high: 50 } })`)).toEqual(
    [`7:158-161 INVALID_VALUE: ${BANDS}`],
  );
});

test.each<[parts: string, expected: string]>([
  ["events: { order }, segments: good", "7:59-63 NOT_A_LIST: segments is not a list; write a list: [ … ]"],
  ["events: { order }, segments: 5", "7:59-60 NOT_A_LIST: segments is not a list; write a list: [ … ]"],
])("a part without brackets is reported once: %s", async (parts, expected) => {
  expect((await diagnosticsOf(parts)).filter((one) => !one.includes("UNLISTED_DEFINITION"))).toEqual([expected]);
});

test("an unknown part does not hide a mistake in another, nor a mistake one of the same kind next to it", async () => {
  expect(
    await diagnosticsOf(
      `events: [order, 5 ], signal: [], health: health({ components: { a: { weight: "0.2", score: ${SCALE("from: 0, to: 9")} }, b: { weight: -1, score: ${SCALE("from: 0, to: 9")} } }, bands: { all: 0 } })`,
    ),
  ).toEqual([
    starting("7:46-47 NOT_AN_EVENT: events[1] is not an event"),
    starting('7:51-57 UNKNOWN_MODEL_PART: a model has no part "signal"'),
    starting("7:99-105 TYPE_ERROR: expected a number"),
    "7:178-180 INVALID_SHAPE: health.components[1].weight: must be >= 0; give a number that is at least 0",
  ]);
});

test("a number out of range is reported along with an exception, and hides nothing else", async () => {
  expect(
    await diagnosticsOf(
      `events: { order }, health: health({ components: { a: { weight: -0.35, score: scale(order.count(), { from: 3, to: 3 }) } }, bands: { all: 0 } })`,
      `throws();\nfunction throws() { throw new Error("no"); }`,
    ),
  ).toEqual([
    "7:93-98 INVALID_SHAPE: health.components[0].weight: must be >= 0; give a number that is at least 0",
    starting('7:130-134 INVALID_VALUE: must differ from "from", which is 3, too'),
    starting("9:27-27 MODEL_FAILED: the model could not be loaded: Error: no"),
  ]);
});

test("an unreachable state is reported where it is defined, not where it is named", async () => {
  expect(
    await diagnosticsOf(
      `events: { order }, lifecycle: lifecycle({ initial: "a", states: { a: {}, c: { to: { lost: order.happened() } }, lost: {} } }), segments: [good]`,
    ),
  ).toEqual([
    starting("5:16-62 UNLISTED_DEFINITION: this lifecycle is not part of the model"),
    '7:103-104 UNREACHABLE_STATE: the state "c" is never entered: no transitions lead to it from "a"; add a transition to it, or remove it',
    '7:142-146 UNREACHABLE_STATE: the state "lost" is never entered: no transitions lead to it from "a"; add a transition to it, or remove it',
  ]);
});

const SELF = "expected what a rule can wait for, but this is";
const TRIGGERS =
  "give an event, event.where(…), traitsChanged, .entered(…) or .exited(…) of the lifecycle, a segment or the health, " +
  ".started(), .stepCompleted(…), .completed() or .expired() of a journey, or .raised() or .cleared() of a signal";

/** Signals, with their diagnostics and fixes. */
const SIGNALS: Record<string, string> = {
  'severity: "info", when: good.has(), for: "3d"':
    'INVALID_SHAPE: signals[0].for: a signal with a condition is cleared when the condition ceases to hold; remove "for" or "when", which exclude each other: only what rules raise is cleared after a time',
  'severity: "fatal", when: good.has()':
    'TYPE_ERROR: expected one of "info", "warning", "critical", but this is "fatal"; give one of "info", "warning", "critical"',
  'severity: "info", when: sequence(order, order)':
    'TYPE_ERROR: expected a condition, but this is a sequence without the time that it may take; add .within("7d"), or how long the sequence may take',
  'severity: "info", when: order.count()':
    "TYPE_ERROR: expected a condition, but this is a number that is not compared yet; compare it, such as with .atLeast(3)",
};
/** The same for rules. */
const RULES: Record<string, string> = {
  'on: stages.enters("a"), then: emit("a.b")':
    'UNKNOWN_MEMBER: the lifecycle has no method "enters"; did you mean "entered"?; write "entered"',
  'on: good, then: emit("a.b")': `TYPE_ERROR: ${SELF} a segment; ${TRIGGERS}`,
  'on: good.has(), then: emit("a.b")': `TYPE_ERROR: ${SELF} a condition; write good.entered()`,
  "on: order, then: good":
    "TYPE_ERROR: expected what a rule can do, but this is a segment; give addTo(…) or removeFrom(…) of a segment, emit(…), or raise(…) or clear(…) of a signal",
};

test("an invalid part is reported with a fix", async () => {
  const parts = (builder: string, given: Record<string, string>) =>
    Object.keys(given).map((members, n) => `${builder}("${builder}_${n}", { ${members} })`);
  const found = await diagnosticsOf(
    `events: { order }, lifecycle: stages, segments: [good],
  signals: [
    ${parts("signal", SIGNALS).join(",\n    ")},
  ],
  rules: [
    ${parts("rule", RULES).join(",\n    ")},
  ]`,
  );
  expect(found.map((one) => one.replace(/^\S+ /, ""))).toEqual([...Object.values(SIGNALS), ...Object.values(RULES)]);
});
