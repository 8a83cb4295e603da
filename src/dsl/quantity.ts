import type { Condition as ConditionNode, Measure as MeasureNode, OccurrenceScope } from "../snapshot/types.js";
import type { Comparisons } from "./comparisons.js";
import { comparisons } from "./comparisons.js";
import type { Condition } from "./condition.js";
import { condition } from "./condition.js";
import { guarded } from "./guarded.js";
import type { Measure } from "./measure.js";
import type { OpenCondition, Scopes } from "./scope.js";
import { scopes } from "./scope.js";
import { MEASURE } from "./symbols.js";

/** A number over a stretch of time that is settled: what is left to say is the comparison. */
export type ScopedQuantity = Comparisons<Condition> & Measure;

/** A number made of occurrences: `count().atLeast(3)`, `count().within("30d").atLeast(3)` and `count().atLeast(3).within("30d")` are all
 * fine, and it can score a health component. */
export type Quantity = Comparisons<OpenCondition> & Scopes<ScopedQuantity> & Measure;

type QuantityNode = Extract<MeasureNode, { kind: "count" | "aggregate" | "distinct" }>;

/** The number that a measure of occurrences stands for. */
export function quantity(node: QuantityNode): Quantity {
  const owner = `the ${nameOf(node)} of ${JSON.stringify(node.of.event)}`;
  const guard = { owner, standIns: { measure: node } };
  const scoped = (scope: OccurrenceScope) =>
    guarded(
      {
        ...comparisons((operator, value) => condition({ ...node, ...scope, operator, value })),
        [MEASURE]: { ...node, ...scope },
      },
      guard,
    );
  const open = comparisons((operator, value) =>
    openCondition(owner, (scope) => ({ ...node, ...scope, operator, value })),
  );
  return guarded({ ...open, ...scopes(scoped), [MEASURE]: node }, guard);
}

function nameOf(node: QuantityNode): string {
  switch (node.kind) {
    case "count":
      return "count";
    case "distinct":
      return `distinct ${JSON.stringify(node.property)}`;
    case "aggregate":
      return `${node.function} of ${JSON.stringify(node.property)}`;
  }
}

/** A condition that can still be narrowed to a scope. */
export function openCondition(owner: string, nodeFor: (scope: OccurrenceScope) => ConditionNode): OpenCondition {
  const narrowed = scopes((scope) => condition(nodeFor(scope)));
  return guarded({ ...condition(nodeFor({})), ...narrowed }, { owner: `a condition on ${owner}` });
}
