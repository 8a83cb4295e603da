import type { Measure as MeasureNode, Score as ScoreNode } from "../snapshot/types.js";
import type { Measure } from "./measure.js";
import { located } from "./site.js";
import { MEASURE, SCORE } from "./symbols.js";

/** A score from 0 to 100, for a health component. */
export interface Score {
  readonly [SCORE]: ScoreNode;
}

/**
 * A score in proportion: 0 at `from`, 100 at `to`, linear between and constant outside. `from` may be the greater one, for numbers that are
 * better small. An absent number scores 0.
 */
export function scale(measure: Measure, range: { from: number; to: number }): Score {
  return { [SCORE]: located({ kind: "scale", of: measureOf(measure), ...range }) };
}

/**
 * A score in steps: that of the first limit which the number does not exceed. `steps(daysSince(login), [[2, 100], [7, 70]], 0)` scores 100
 * up to two days, 70 up to seven, and 0 beyond. An absent number scores 0.
 *
 * @param limits pairs of limit and score, with ascending limits.
 * @param otherwise the score beyond the last limit.
 */
export function steps(measure: Measure, limits: readonly (readonly [number, number])[], otherwise: number): Score {
  const pairs = limits.map((pair) => [...pair] as [number, number]);
  return { [SCORE]: located({ kind: "steps", of: measureOf(measure), steps: pairs, otherwise }) };
}

/** The measure that a value stands for; null, which the validation refuses, for a value that is no number. */
function measureOf(measure: Measure): MeasureNode {
  return (measure as Partial<Measure> | null | undefined)?.[MEASURE] ?? (null as never);
}
