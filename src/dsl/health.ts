import type {
  Health as HealthNode,
  HealthBand as BandNode,
  HealthComponent as ComponentNode,
} from "../snapshot/types.js";
import type { Comparisons } from "./comparisons.js";
import { comparisons } from "./comparisons.js";
import type { Condition } from "./condition.js";
import { condition, nodeOf } from "./condition.js";
import { guarded } from "./guarded.js";
import type { Lazy } from "./lazy.js";
import { resolve } from "./lazy.js";
import { definitionOf } from "./model-error.js";
import type { Part } from "./part.js";
import { part } from "./part.js";
import type { Score } from "./score.js";
import { locatedAs } from "./site.js";
import { SCORE } from "./symbols.js";

/** The health score: how well each customer does, from 0 to 100. Conditions on it are false until there is a score. */
export interface HealthModel<Component extends string = string, Band extends string = string> extends AnyHealth {
  /** The weighted mean of the components, rounded to two decimals. */
  readonly overall: Comparisons<Condition>;
  /** The score of one component, rounded to two decimals. */
  component(name: Component): Comparisons<Condition>;
  /** The band that the overall score is in. */
  readonly band: BandQuestions<Band>;
}

/** What the band can be asked. */
export interface BandQuestions<Band extends string> {
  /** Holds while the overall score is in this band. */
  is(band: Band): Condition;
  /** Holds while the overall score is in one of these bands. */
  in(...bands: Band[]): Condition;
  /** Holds while the overall score is not in this band, or while there is no score. */
  isNot(band: Band): Condition;
}

/** A health score of any components and bands. */
export type AnyHealth = Part<"health", HealthNode>;

/** A component of the overall score. */
export interface ComponentDefinition {
  /** At least 0; weights need not add up to 1, since the overall score is divided by their sum. */
  weight: number;
  /** How the component is scored: `scale(…)`, `steps(…)` or `trait.map(…)`. */
  score: Lazy<Score>;
}

/**
 * Declares the health score. Where no condition reads it, it is scored when an operation of the customer is evaluated, and after a change
 * that time alone makes, once a day.
 *
 * @param definition `bands` gives the least overall score of each band, in any order; one of them must begin at 0.
 */
export function health<Component extends string, Band extends string>(definition: {
  components: { [Name in Component]: ComponentDefinition };
  bands: { [Name in Band]: number };
}): HealthModel<Component, Band> {
  const { components, bands } = definitionOf(definition, "health(…)", "components and bands");
  const lower = (): HealthNode => ({
    components: Object.entries<ComponentDefinition>(orNothing(components)).map(componentNode),
    bands: Object.entries<number>(orNothing(bands))
      .map(([id, from]): BandNode => ({ id, from }))
      .sort((a, b) => b.from - a.from),
  });
  const score = (component: object) =>
    comparisons((operator, value) => condition({ kind: "health", ...component, operator, value }));
  const isIn = (names: Band[]) => condition({ kind: "healthBand", bands: names });
  const owner = "the health score";
  return guarded(
    {
      ...part("health", lower),
      overall: guarded(score({}), { owner }),
      component: (name: Component) => guarded(score({ component: name }), { owner }),
      band: guarded(
        {
          is: (band: Band) => isIn([band]),
          in: (...names: Band[]) => isIn(names),
          isNot: (band: Band) => condition({ kind: "not", condition: nodeOf(isIn([band])) }),
        },
        { owner: "the health band" },
      ),
    },
    { owner },
  );
}

function componentNode([id, { weight, score }]: [string, ComponentDefinition]): ComponentNode {
  const node = (resolve(score) as Partial<Score> | null | undefined)?.[SCORE] ?? (null as never);
  return locatedAs({ id, weight, score: node }, node);
}

/** What got past the type checker without its members is refused by the validation, which finds nothing in them. */
function orNothing<T extends object>(record: T | undefined): T {
  return record ?? ({} as T);
}
