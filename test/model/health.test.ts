import { expect, test } from "vitest";

import { complete, health, ordered, problemsOf } from "./sound.js";

type Rows = [parts: object, ...problems: string[]][];

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
  [{ health: [] }, "health INVALID_SHAPE"],
  [withHealth({ components: [] }), "health.components INVALID_SHAPE"],
  [withHealth({ bands: [] }), "health.bands INVALID_SHAPE"],
  [components({ id: "a b" }), "health.components[0].id INVALID_NAME"],
  [components({ id: "a" }, { id: "a" }), "health.components[1].id DUPLICATE_COMPONENT"],
  [components({ weight: -1 }, {}), "health.components[0].weight INVALID_SHAPE"],
  [
    components({ weight: -1, score: { kind: "scale", of: { kind: "trait", trait: "seats" }, from: 3, to: 3 } }),
    "health.components[0].weight INVALID_SHAPE",
    `${SCORE}.to INVALID_VALUE`,
  ],
  [
    scored({ kind: "steps", of: { kind: "trait", trait: "nothing" }, steps: [[1, 100]], otherwise: 101 }),
    `${SCORE}.otherwise INVALID_SHAPE`,
    `${SCORE}.of.trait UNKNOWN_TRAIT`,
  ],
  [components({ weight: "1" }), "health.components[0].weight INVALID_SHAPE"],
  [components({ weight: 1e300 }), "health.components[0].weight INVALID_SHAPE"],
  [components({ weight: 0 }, { weight: 0 }), "health.components WEIGHTS_SUM_TO_ZERO"],
  [components({ weight: 0 }, { weight: 0.1 })],
  [scored({ kind: "curve" }), `${SCORE}.kind INVALID_SHAPE`],
  [scale({ kind: "trait", trait: "seats" }, { from: 10 }), `${SCORE}.to INVALID_VALUE`],
  [scale({ kind: "trait", trait: "seats" }, { from: -1e308, to: 1e308 }), `${SCORE}.to INVALID_VALUE`],
  [scale({ kind: "traitExists", trait: "seats" }), `${SCORE}.of.kind INVALID_SHAPE`],
  [scale({ kind: "trait", trait: "seat" }), `${SCORE}.of.trait UNKNOWN_TRAIT`],
  [scale({ kind: "trait", trait: "plan" }), `${SCORE}.of.trait TYPE_MISMATCH`],
  [scale(ordered), `${SCORE}.of.operator INVALID_SHAPE`, `${SCORE}.of.value INVALID_SHAPE`], // prettier-ignore
  [scale({ kind: "count", of: { event: "x" } }), `${SCORE}.of.of.event UNKNOWN_EVENT`],
  [scale({ kind: "count", of, within: "1d", since: "state" }), `${SCORE}.of INVALID_SHAPE`],
  [scale({ kind: "aggregate", function: "sum", of, property: "source" }), `${SCORE}.of.property TYPE_MISMATCH`],
  [scale({ kind: "latest", of, property: "source" }), `${SCORE}.of.property TYPE_MISMATCH`],
  [scale({ kind: "distinct", of, property: "x" }), `${SCORE}.of.property UNKNOWN_PROPERTY`],
  [scale({ kind: "count", of, within: "1d" }, { to: 10_001 }), `${SCORE}.to TOO_MANY`],
  [scale({ kind: "count", of, since: "state" }, { from: 10_001 }), `${SCORE}.from TOO_MANY`],
  [scale({ kind: "count", of }, { to: 10_001 })],
  [scoreSteps([[1, 0], [10_001, 1]], { kind: "distinct", of, property: "source" }), `${SCORE}.steps[1][0] TOO_MANY`], // prettier-ignore
  [scoreSteps([]), `${SCORE}.steps INVALID_SHAPE`],
  [scoreSteps([[1]]), `${SCORE}.steps[0] INVALID_SHAPE`],
  [scoreSteps([[1, 101]]), `${SCORE}.steps[0][1] INVALID_SHAPE`],
  [scoreSteps([[1, 50], [3, 60], [3, 70]]), `${SCORE}.steps[2][0] INVALID_VALUE`], // prettier-ignore
  [
    scored({ kind: "steps", of: { kind: "trait", trait: "seats" }, steps: [[1, 1]], otherwise: -1 }),
    `${SCORE}.otherwise INVALID_SHAPE`,
  ],
  [scored({ kind: "map", trait: "plans", values: { free: 1 } }), `${SCORE}.trait UNKNOWN_TRAIT`],
  [scored({ kind: "map", trait: "seats", values: { free: 1 } }), `${SCORE}.trait TYPE_MISMATCH`],
  [scored({ kind: "map", trait: "plan", values: { free: 1, gold: 2 } }), `${SCORE}.values.gold INVALID_VALUE`],
  [scored({ kind: "map", trait: "plan", values: { free: 200 } }), `${SCORE}.values.free INVALID_SHAPE`],
  [scored({ kind: "map", trait: "plan", values: {} }), `${SCORE}.values INVALID_SHAPE`],
  [bands(["Good", 0]), "health.bands[0].id INVALID_NAME"],
  [bands(["a", 50], ["a", 0]), "health.bands[1].id DUPLICATE_BAND"],
  [bands(["a", 101], ["b", 0]), "health.bands[0].from INVALID_SHAPE"],
  [bands(["a", 1], ["b", -1]), "health.bands[1].from INVALID_SHAPE"],
  [bands(["a", 0], ["b", 40]), "health.bands[1].from INVALID_VALUE"],
  [bands(["a", 40], ["b", 40], ["c", 0]), "health.bands[1].from INVALID_VALUE"],
  [bands(["a", 40], ["b", 10]), "health.bands[1].from INVALID_VALUE"],
];

test.each(HEALTH)("health with %j is told: %s", (parts, ...problems) => {
  expect(problemsOf(parts, complete)).toEqual(problems);
});
