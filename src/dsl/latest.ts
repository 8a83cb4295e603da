import type { EventSelector, Field, OccurrenceScope } from "../snapshot/types.js";
import type { Condition } from "./condition.js";
import { condition, nodeOf } from "./condition.js";
import type { AnyField, NumberField } from "./field.js";
import { guarded } from "./guarded.js";
import type { Measure } from "./measure.js";
import type { Operand } from "./operand.js";
import { operand } from "./operand.js";
import { openCondition } from "./quantity.js";
import type { OpenCondition, Scopes } from "./scope.js";
import { scopes } from "./scope.js";
import { MEASURE } from "./symbols.js";

/** The latest value of a property over a stretch of time that is settled. */
export type ScopedLatest<F extends AnyField> = Operand<F, Condition> & Measured<F>;

/** The value that a property had at the latest occurrence with one: `order.latest("total").atLeast(50)`, narrowed by `.within` or
 * `.since` before or after the question. */
export type Latest<F extends AnyField> = Operand<F, OpenCondition> & Scopes<ScopedLatest<F>> & Measured<F>;

type Measured<F extends AnyField> = F extends NumberField ? Measure : unknown;

/** The latest value of a declared property. */
export function latest(of: EventSelector, property: string, field: Field): object {
  const owner = `the latest ${JSON.stringify(property)} of ${JSON.stringify(of.event)}`;
  const read = { kind: "latest", of, property } as const;
  const guard = { owner, standIns: { measure: read } };
  const measure = (scope: OccurrenceScope) => (field.type === "number" ? { [MEASURE]: { ...read, ...scope } } : {});
  const exists = (scope: OccurrenceScope) => condition({ kind: "latestExists", of, property, ...scope });

  const scoped = (scope: OccurrenceScope) => {
    const questions = operand(field, {
      compare: (operator, value) => condition({ ...read, ...scope, operator, value }),
      exists: () => exists(scope),
      missing: () => condition({ kind: "not", condition: nodeOf(exists(scope)) }),
    });
    return guarded({ ...questions, ...measure(scope) }, guard);
  };
  const questions = operand(field, {
    compare: (operator, value) => openCondition(owner, (scope) => ({ ...read, ...scope, operator, value })),
    exists: () => openCondition(owner, (scope) => nodeOf(exists(scope))),
    missing: () => openCondition(owner, (scope) => ({ kind: "not", condition: nodeOf(exists(scope)) })),
  });
  return guarded({ ...questions, ...measure({}), ...scopes(scoped) }, guard);
}
