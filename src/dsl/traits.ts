import type { Field } from "../snapshot/types.js";
import type { Condition } from "./condition.js";
import { condition, NODE, nodeOf } from "./condition.js";
import { nodesOf } from "./event.js";
import type { Fields } from "./field.js";
import type { DateTraitOperand, Operand } from "./operand.js";
import { operand } from "./operand.js";
import { located } from "./site.js";

/** What is known about a customer: each trait can be asked, as in `customer.plan.is("pro")`. */
export type TraitsModel<F extends Fields = Fields> = {
  readonly [Name in keyof F]: Operand<F[Name], Condition, DateTraitOperand<Condition>>;
} & AnyTraits;

/** Traits of any shape. */
export interface AnyTraits {
  readonly [NODE]: Record<string, Field>;
}

/** Declares the traits of a customer, which identify operations set. A trait may always be absent. */
export function traits<const F extends Fields>(fields: F): TraitsModel<F> {
  const nodes = withoutOptional(nodesOf(fields));
  const model: Record<string | symbol, unknown> = Object.create(null) as Record<string | symbol, unknown>;
  for (const [trait, field] of Object.entries<Field | null>(nodes)) {
    if (field) model[trait] = traitOperand(trait, field);
  }
  model[NODE] = located(nodes);
  return model as TraitsModel<F>;
}

function traitOperand(trait: string, field: Field): object {
  const exists = () => condition({ kind: "traitExists", trait });
  return operand(field, {
    compare: (operator, value) => condition({ kind: "trait", trait, operator, value }),
    exists,
    missing: () => condition({ kind: "not", condition: nodeOf(exists()) }),
    within: (duration) => condition({ kind: "traitDateWithin", trait, within: duration }),
  });
}

/** Of a trait the word says nothing, so it is left out: equal models have equal snapshots. */
function withoutOptional(nodes: Record<string, Field>): Record<string, Field> {
  return Object.fromEntries(
    Object.entries<Field | null>(nodes).map(([name, field]) => {
      if (!field?.optional) return [name, field];
      const { optional: _, ...required } = field;
      return [name, required];
    }),
  ) as Record<string, Field>;
}
