import type * as Node from "../model/snapshot/types.js";
import { type Condition, condition, type Lazy, membership, resolve } from "./condition.js";
import { definitionOf, entriesOf, strictProxy } from "./mistakes.js";
import { type Part, part, SCORE, trigger, type Trigger, withSourceLocation } from "./part.js";
import { comparisons, type Comparisons, type Measure, measureOf } from "./quantity.js";

/** A score from 0 to 100, for a health component. */
export interface Score {
  readonly [SCORE]: Node.Score;
}

/**
 * A proportional score: 0 at `from`, 100 at `to`, linear between and constant outside. `from` can be greater than `to`, for numbers where
 * less is better. An absent number scores 0 unless the component sets `absent`.
 */
export function scale(measure: Measure, range: { from: number; to: number }): Score {
  return { [SCORE]: withSourceLocation({ kind: "scale", of: measureOf(measure), ...range }) };
}

/**
 * A score in steps: the score of the first limit that the number does not exceed. `steps(daysSince(login), [[2, 100], [7, 70]], 0)` scores
 * 100 up to two days, 70 up to seven, and 0 beyond. An absent number scores 0 unless the component sets `absent`.
 *
 * @param limits pairs of limit and score, with ascending limits.
 * @param otherwise the score beyond the last limit.
 */
export function steps(measure: Measure, limits: readonly (readonly [number, number])[], otherwise: number): Score {
  const pairs = limits.map((pair) => [...pair] as [number, number]);
  return { [SCORE]: withSourceLocation({ kind: "steps", of: measureOf(measure), steps: pairs, otherwise }) };
}

/** The health score: how well each customer is doing, from 0 to 100. While there is no score, only negated conditions on it hold. */
export interface HealthModel<Component extends string = string, Band extends string = string> extends AnyHealth {
  /** The weighted mean of the known components, rounded to two decimals; there is no score if none is known. */
  readonly overall: Comparisons<Condition>;
  /** The score of one component, rounded to two decimals. */
  component(name: Component): Comparisons<Condition>;
  /** The band of the overall score. */
  readonly band: BandQuestions<Band>;
  /** For a rule's `on`: a new score is in this band, and the previous one was not or did not exist. */
  entered(band: Band): Trigger;
  /** For a rule's `on`: a new score is not in this band, and the previous one was. */
  exited(band: Band): Trigger;
}

/** The conditions on the health band. */
interface BandQuestions<Band extends string> {
  /** Holds while the overall score is in this band. */
  is(band: Band): Condition;
  /** Holds while the overall score is in one of these bands. */
  in(...bands: Band[]): Condition;
  /** Holds while the overall score is not in this band, or while there is no score. */
  isNot(band: Band): Condition;
}

/** A health score with any components and bands. */
export type AnyHealth = Part<"health", Node.Health>;

/** A component of the overall score. */
interface ComponentDefinition {
  /** At least 0. Weights need not add up to 1: the overall score is divided by their sum. */
  weight: number;
  /** How the component is scored: `scale(…)`, `steps(…)` or `trait.map(…)`. */
  score: Lazy<Score>;
  /**
   * The component's score when its measure is absent: a survey never answered, a trait not set, days since something that never happened.
   * 0 by default; or another score; or `"skip"` to leave the component out of the mean.
   */
  absent?: "skip" | number;
}

/**
 * Declares the health score. If no condition reads it, it is scored whenever an operation of the customer is evaluated, and once a day
 * after a change that is due to time alone.
 *
 * @param definition `bands` gives the lowest overall score of each band, in any order; one of them must begin at 0.
 */
export function health<Component extends string, Band extends string>(definition: {
  components: { [Name in Component]: ComponentDefinition };
  bands: { [Name in Band]: number };
}): HealthModel<Component, Band> {
  const { components, bands } = definitionOf(definition, "health(…)", "components and bands");
  const lower = (): Node.Health => ({
    components: entriesOf<ComponentDefinition>(components).map(componentNode),
    bands: entriesOf<number>(bands)
      .map(([id, from]): Node.HealthBand => ({ id, from }))
      .sort((a, b) => b.from - a.from),
  });
  const score = (component: object) =>
    comparisons((operator, value) => condition({ kind: "health", ...component, operator, value }));
  const owner = "the health score";
  return strictProxy(
    {
      ...part("health", lower, ""),
      overall: strictProxy(score({}), { owner }),
      component: (name: Component) => strictProxy(score({ component: name }), { owner }),
      band: strictProxy(
        membership((names: Band[]) => condition({ kind: "healthBand", bands: names })),
        { owner: "the health band" },
      ),
      entered: (band: Band) => trigger({ kind: "bandEntered", band }),
      exited: (band: Band) => trigger({ kind: "bandExited", band }),
    },
    { owner },
  );
}

function componentNode([id, { weight, score, absent }]: [string, ComponentDefinition]): Node.HealthComponent {
  const node = (resolve(score) as Partial<Score> | null | undefined)?.[SCORE] ?? (null as never);
  return { id, weight, score: node, ...(absent !== undefined && { absent }) };
}
