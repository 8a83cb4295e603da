import type * as Node from "../model/snapshot/types.js";
import { type Condition, condition, type Duration, nodeOf, not } from "./condition.js";
import type { AnyField, Fields, NumberField, ScalarField } from "./field.js";
import { type Operand, operand } from "./operand.js";
import { ModelError, recordMistake, recoveryValue, strictProxy } from "./mistakes.js";
import { type Selection, SELECTOR, selectorOf } from "./part.js";
import {
  type Arithmetic,
  type Measure,
  measured,
  type OpenCondition,
  openCondition,
  quantity,
  type Quantity,
  scopes,
  type Scopes,
  sinceOf,
  type Start,
} from "./quantity.js";

/** The latest value of a property, already narrowed to a scope. */
export type ScopedLatest<F extends AnyField> = Operand<F, Condition> & Measured<F>;

/** The value of a property at the latest occurrence that has one: `order.latest("total").atLeast(50)`. It can be narrowed by `.within` or
 * `.since`, before or after the comparison. */
export type Latest<F extends AnyField> = Operand<F, OpenCondition> & Scopes<ScopedLatest<F>> & Measured<F>;

type Measured<F extends AnyField> = F extends NumberField ? Measure & Arithmetic : unknown;

/** The latest value of a declared property. */
function latest(of: Node.EventSelector, property: string, field: Node.Field): object {
  const owner = `the latest ${JSON.stringify(property)} of ${JSON.stringify(of.event)}`;
  const read = { kind: "latest", of, property } as const;
  const guard = { owner, standIns: { measure: read } };
  const measure = (scope: Node.OccurrenceScope) => (field.type === "number" ? measured({ ...read, ...scope }) : {});
  const exists = (scope: Node.OccurrenceScope) => condition({ kind: "latestExists", of, property, ...scope });
  const questions = (ask: (nodeFor: (scope: Node.OccurrenceScope) => Node.Condition) => Condition) =>
    operand(field, {
      compare: (operator, value) => ask((scope) => ({ ...read, ...scope, operator, value })),
      exists: () => ask((scope) => nodeOf(exists(scope))),
      missing: () => ask((scope) => nodeOf(not(exists(scope)))),
    });

  const scoped = (scope: Node.OccurrenceScope) =>
    strictProxy({ ...questions((nodeFor) => condition(nodeFor(scope))), ...measure(scope) }, guard);
  const open = questions((nodeFor) => openCondition(owner, nodeFor));
  return strictProxy({ ...open, ...measure({}), ...scopes(scoped) }, guard);
}

/** The names of the properties whose type is one of these. */
type Names<F extends Fields, Type> = { [Name in keyof F]: F[Name] extends Type ? Name : never }[keyof F] & string;

/** The questions about the occurrences of an event. They cover all time unless narrowed by `.within` or `.since`. */
export interface Occurrences<F extends Fields = Fields> extends Selection {
  /** The number of occurrences: `.count().atLeast(3).within("30d")`. */
  count(): Quantity;
  /** Holds while there is at least one occurrence. */
  happened(): OpenCondition;
  /** Holds while there is no occurrence. */
  never(): OpenCondition;
  /** The sum of a number property, exact in decimals: `.sum("amount").atLeast(500).within("90d")`. 0 without occurrences. */
  sum(property: Names<F, NumberField>): Quantity;
  /** The average of a number property over the occurrences that have it; absent if there are none. */
  avg(property: Names<F, NumberField>): Quantity;
  /** The least value of a number property; absent if there is none. */
  min(property: Names<F, NumberField>): Quantity;
  /** The greatest value of a number property; absent if there is none. */
  max(property: Names<F, NumberField>): Quantity;
  /** How many different values a property has had: `.distinct("feature").atLeast(3)`. Dates are compared as instants. */
  distinct(property: Names<F, ScalarField>): Quantity;
  /** The value of a property at the latest occurrence that has one, with the same questions as the property in `where`. */
  latest<Name extends keyof F & string>(property: Name): Latest<F[Name]>;
}

/** The questions about the selected occurrences of an event with these properties. */
export function occurrences(of: Node.EventSelector, properties: Record<string, Node.Field | null>): Occurrences {
  const owner = `the count of ${JSON.stringify(of.event)}`;
  const aggregate = (name: Node.NumberAggregate) => (property: string) =>
    quantity({ kind: "aggregate", function: name, of, property });
  return {
    [SELECTOR]: of,
    count: () => quantity({ kind: "count", of }),
    happened: () => openCondition(owner, (scope) => ({ kind: "count", of, ...scope, operator: "gte", value: 1 })),
    never: () => openCondition(owner, (scope) => ({ kind: "count", of, ...scope, operator: "eq", value: 0 })),
    sum: aggregate("sum"),
    avg: aggregate("avg"),
    min: aggregate("min"),
    max: aggregate("max"),
    distinct: (property) => quantity({ kind: "distinct", of, property }),
    latest: (property) => {
      const isDeclared = Object.hasOwn(properties, property);
      const field = isDeclared ? properties[property] : undefined;
      if (field) return latest(of, property, field) as never;
      // The questions about it depend on its type, so unlike in an aggregate it cannot be left to the validation, which refuses a declared
      // property that has none.
      if (!isDeclared) {
        const message = `the event ${JSON.stringify(of.event)} has no property ${JSON.stringify(property)}`;
        const misnamed = { name: property, candidates: Object.keys(properties) };
        recordMistake(new ModelError("UNKNOWN_PROPERTY", message, undefined, misnamed));
      }
      return recoveryValue({ measure: { kind: "count", of } });
    },
  };
}

/** Two events in order; call `within` to say how far apart they may be. */
export interface Sequence {
  /** The second happens less than this long after the first. */
  within(duration: Duration): OpenSequence;
}

/** A sequence that holds once it has happened; `since` requires both events to come after a start. */
export type OpenSequence = Condition & {
  /** Both happened since the current lifecycle state was entered, `since("state")`, or since a journey started, `since(onboarding)`. */
  since(start: Start): Condition;
};

/**
 * One event and then another: `sequence(trialStarted, invoicePaid).within("14d")`. Events at the same instant are in the order in which they
 * were accepted. Once the sequence has happened it holds forever; with `since`, or in a step of a journey, until that start changes.
 */
export function sequence(first: Selection, then: Selection): Sequence {
  const guard = { owner: "a sequence" };
  const node = (within: Duration): Node.Condition => ({
    kind: "sequence",
    first: selectorOf(first),
    then: selectorOf(then),
    within,
  });
  const within = (duration: Duration) => {
    const since = (start: Start) => condition({ ...node(duration), since: sinceOf(start) } as Node.Condition);
    return strictProxy({ ...condition(node(duration)), since }, guard);
  };
  return strictProxy({ within }, guard);
}
