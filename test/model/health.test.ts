import { expect, test } from "vitest";

import { complete, health, ordered, problemsOf } from "./sound.js";

type Rows = [name: string, parts: object, problems: string[]][];

const of = { event: "order placed" };
const withHealth = (parts: object) => ({ health: { ...health, ...parts } });
const components = (...parts: object[]) =>
  withHealth({ components: parts.map((part, index) => ({ ...health.components[0], id: `c${index}`, ...part })) });
const scored = (score: unknown) => components({ score });
const bands = (...parts: [id: string, from: unknown][]) =>
  withHealth({ bands: parts.map(([id, from]) => ({ id, from })) });
const scale = (measure: object, parts: object = {}) =>
  scored({ kind: "scale", of: measure, from: 0, to: 10, ...parts });
const scoreSteps = (steps: unknown, measure: object = { kind: "trait", trait: "seats" }) =>
  scored({ kind: "steps", of: measure, steps, otherwise: 0 });
const SCORE = "health.components[0].score";

const HEALTH: Rows = [
  ["no object", { health: [] }, ["health INVALID_SHAPE"]],
  ["no components", withHealth({ components: [] }), ["health.components INVALID_SHAPE"]],
  ["no bands", withHealth({ bands: [] }), ["health.bands INVALID_SHAPE"]],
  ["a component id with a space", components({ id: "a b" }), ["health.components[0].id INVALID_NAME"]],
  ["a component twice", components({ id: "a" }, { id: "a" }), ["health.components[1].id DUPLICATE_COMPONENT"]],
  ["a negative weight", components({ weight: -1 }, {}), ["health.components[0].weight INVALID_SHAPE"]],
  [
    "a negative weight beside a scale of no length",
    components({ weight: -1, score: { kind: "scale", of: { kind: "trait", trait: "seats" }, from: 3, to: 3 } }),
    ["health.components[0].weight INVALID_SHAPE", `${SCORE}.to INVALID_VALUE`],
  ],
  [
    "a score above 100 beside a trait that is none",
    scored({ kind: "steps", of: { kind: "trait", trait: "nothing" }, steps: [[1, 100]], otherwise: 101 }),
    [`${SCORE}.otherwise INVALID_SHAPE`, `${SCORE}.of.trait UNKNOWN_TRAIT`],
  ],
  ["a weight that is a text", components({ weight: "1" }), ["health.components[0].weight INVALID_SHAPE"]],
  ["an endless weight", components({ weight: 1e300 }), ["health.components[0].weight INVALID_SHAPE"]],
  ["weights that sum to zero", components({ weight: 0 }, { weight: 0 }), ["health.components WEIGHTS_SUM_TO_ZERO"]],
  ["one weight of zero", components({ weight: 0 }, { weight: 0.1 }), []],
  ["an unknown score", scored({ kind: "curve" }), [`${SCORE}.kind INVALID_SHAPE`]],
  ["a scale of no length", scale({ kind: "trait", trait: "seats" }, { from: 10 }), [`${SCORE}.to INVALID_VALUE`]],
  [
    "a scale of all numbers",
    scale({ kind: "trait", trait: "seats" }, { from: -1e308, to: 1e308 }),
    [`${SCORE}.to INVALID_VALUE`],
  ],
  ["an unknown measure", scale({ kind: "traitExists", trait: "seats" }), [`${SCORE}.of.kind INVALID_SHAPE`]],
  ["an unknown trait", scale({ kind: "trait", trait: "seat" }), [`${SCORE}.of.trait UNKNOWN_TRAIT`]],
  ["a trait that is no number", scale({ kind: "trait", trait: "plan" }), [`${SCORE}.of.trait TYPE_MISMATCH`]],
  ["a comparison for a measure", scale(ordered), [`${SCORE}.of.operator INVALID_SHAPE`, `${SCORE}.of.value INVALID_SHAPE`]], // prettier-ignore
  ["an unknown event", scale({ kind: "count", of: { event: "x" } }), [`${SCORE}.of.of.event UNKNOWN_EVENT`]],
  ["a window and a start", scale({ kind: "count", of, within: "1d", since: "state" }), [`${SCORE}.of INVALID_SHAPE`]],
  [
    "the sum of texts",
    scale({ kind: "aggregate", function: "sum", of, property: "source" }),
    [`${SCORE}.of.property TYPE_MISMATCH`],
  ],
  ["the latest text", scale({ kind: "latest", of, property: "source" }), [`${SCORE}.of.property TYPE_MISMATCH`]],
  ["an unknown property", scale({ kind: "distinct", of, property: "x" }), [`${SCORE}.of.property UNKNOWN_PROPERTY`]],
  [
    "a scale that remembers too much",
    scale({ kind: "count", of, within: "1d" }, { to: 10_001 }),
    [`${SCORE}.to TOO_MANY`],
  ],
  [
    "a falling scale that remembers too much",
    scale({ kind: "count", of, since: "state" }, { from: 10_001 }),
    [`${SCORE}.from TOO_MANY`],
  ],
  ["a scale that only counts", scale({ kind: "count", of }, { to: 10_001 }), []],
  ["steps that remember too much", scoreSteps([[1, 0], [10_001, 1]], { kind: "distinct", of, property: "source" }), [`${SCORE}.steps[1][0] TOO_MANY`]], // prettier-ignore
  ["no steps", scoreSteps([]), [`${SCORE}.steps INVALID_SHAPE`]],
  ["a step without a score", scoreSteps([[1]]), [`${SCORE}.steps[0] INVALID_SHAPE`]],
  ["a score above 100", scoreSteps([[1, 101]]), [`${SCORE}.steps[0][1] INVALID_SHAPE`]],
  ["limits that do not ascend", scoreSteps([[1, 50], [3, 60], [3, 70]]), [`${SCORE}.steps[2][0] INVALID_VALUE`]], // prettier-ignore
  [
    "a negative score otherwise",
    scored({ kind: "steps", of: { kind: "trait", trait: "seats" }, steps: [[1, 1]], otherwise: -1 }),
    [`${SCORE}.otherwise INVALID_SHAPE`],
  ],
  [
    "a map of an unknown trait",
    scored({ kind: "map", trait: "plans", values: { free: 1 } }),
    [`${SCORE}.trait UNKNOWN_TRAIT`],
  ],
  ["a map of a number", scored({ kind: "map", trait: "seats", values: { free: 1 } }), [`${SCORE}.trait TYPE_MISMATCH`]],
  [
    "a map of an undeclared value",
    scored({ kind: "map", trait: "plan", values: { free: 1, gold: 2 } }),
    [`${SCORE}.values.gold INVALID_VALUE`],
  ],
  [
    "a map to too much",
    scored({ kind: "map", trait: "plan", values: { free: 200 } }),
    [`${SCORE}.values.free INVALID_SHAPE`],
  ],
  ["a map of nothing", scored({ kind: "map", trait: "plan", values: {} }), [`${SCORE}.values INVALID_SHAPE`]],
  ["a band id with capitals", bands(["Good", 0]), ["health.bands[0].id INVALID_NAME"]],
  ["a band twice", bands(["a", 50], ["a", 0]), ["health.bands[1].id DUPLICATE_BAND"]],
  ["a band above 100", bands(["a", 101], ["b", 0]), ["health.bands[0].from INVALID_SHAPE"]],
  ["a band below 0", bands(["a", 1], ["b", -1]), ["health.bands[1].from INVALID_SHAPE"]],
  ["bands that rise", bands(["a", 0], ["b", 40]), ["health.bands[1].from INVALID_VALUE"]],
  ["bands from the same score", bands(["a", 40], ["b", 40], ["c", 0]), ["health.bands[1].from INVALID_VALUE"]],
  ["scores without a band", bands(["a", 40], ["b", 10]), ["health.bands[1].from INVALID_VALUE"]],
];

test.each(HEALTH)("health with %s is told at its path", (_, parts, problems) => {
  expect(problemsOf(parts, complete)).toEqual(problems);
});
