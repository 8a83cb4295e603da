import type * as Node from "../model/snapshot/types.js";
import { attempt, RECOVERY_NODE } from "./mistakes.js";
import { NODE, withSourceLocation } from "./part.js";

/** A duration: a whole number followed by m, h, d or w, up to "3650d". Durations are fixed, so "30d" is 720 hours; there are no calendar
 * months. */
export type Duration = `${number}${"m" | "h" | "d" | "w"}`;

/** A condition on a customer: either true or false at every instant. */
export interface Condition {
  readonly [NODE]: Node.Condition;
}

/** A condition on the properties of one event. Each event meets it or not, independently of other events. */
export interface PropertyCondition {
  readonly [NODE]: Node.PropertyCondition;
}

/** Wraps a node of the snapshot as a condition. */
export function condition(node: Node.Condition): Condition {
  return { [NODE]: withSourceLocation(node) };
}

/** Wraps a node of the snapshot as a condition on properties. */
export function propertyCondition(node: Node.PropertyCondition): PropertyCondition {
  return { [NODE]: withSourceLocation(node) };
}

/** The snapshot node of a value; null, which no snapshot allows, for a value without one. So the validation reports a mistake that got past
 * the type checker, at its place, instead of dropping it. */
export function nodeOf(value: { readonly [NODE]: Node.Condition }): Node.Condition;
export function nodeOf(value: { readonly [NODE]: Node.PropertyCondition }): Node.PropertyCondition;
export function nodeOf(value: { readonly [NODE]?: unknown } | null | undefined): unknown {
  return value?.[NODE] ?? null;
}

/** Holds while all of the conditions hold. Needs at least one. */
export function all(...conditions: Condition[]): Condition;
export function all(...conditions: PropertyCondition[]): PropertyCondition;
export function all(...conditions: Condition[] | PropertyCondition[]): Condition | PropertyCondition {
  return combine("all", conditions);
}

/** Holds while at least one of the conditions holds. Needs at least one. */
export function any(...conditions: Condition[]): Condition;
export function any(...conditions: PropertyCondition[]): PropertyCondition;
export function any(...conditions: Condition[] | PropertyCondition[]): Condition | PropertyCondition {
  return combine("any", conditions);
}

// Both kinds of conditions build the same nodes; the overloads keep them apart. Conditions with a recorded mistake are left out: their
// recovery node is not allowed in a filter.
function combine(kind: "all" | "any", conditions: Condition[] | PropertyCondition[]): Condition {
  const nodes = (conditions as Condition[]).map((part) => nodeOf(part));
  const valid = nodes.filter((node) => node !== RECOVERY_NODE);
  return valid.length < nodes.length && valid.length === 0
    ? { [NODE]: RECOVERY_NODE }
    : condition({ kind, conditions: valid });
}

/** Holds exactly while the condition does not hold, so also while the condition compares an absent value. */
export function not(condition: Condition): Condition;
export function not(condition: PropertyCondition): PropertyCondition;
export function not(negated: Condition | PropertyCondition): Condition | PropertyCondition {
  const node = nodeOf(negated as Condition);
  return node === RECOVERY_NODE ? { [NODE]: RECOVERY_NODE } : condition({ kind: "not", condition: node });
}

/** The questions about something that has one of a few values. */
export function membership<Value>(isIn: (values: Value[]) => Condition) {
  return {
    is: (value: Value) => isIn([value]),
    in: (...values: Value[]) => isIn(values),
    isNot: (value: Value) => not(isIn([value])),
  };
}

/**
 * A value, or a function that returns it. Functions are called when the model is compiled, after every module has loaded, so they can use
 * definitions from modules that import this one: `to: { active: () => loyal.has() }`.
 *
 * Names inside the function are type-checked as usual. Whether it returns a `T` is checked only when the model is compiled: otherwise the
 * type of `stages` would depend on that of `loyal`, which depends on `stages`.
 */
export type Lazy<T> = T | Deferred;

// oxlint-disable-next-line typescript/no-explicit-any -- the only return type for which the checker does not infer the result
type Deferred = () => any;

/** Resolves a lazy value. Undefined is passed on, for the validation to report. */
export function resolve<T>(value: Lazy<T> | undefined): T {
  return (typeof value === "function" ? attempt(value as () => T) : value) as T;
}
