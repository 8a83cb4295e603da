import type * as Node from "../model/snapshot/types.js";
import { attempt, RECOVERY_NODE, recoveryValue } from "./mistakes.js";
import { NODE, withSourceLocation } from "./part.js";

/** A length of time: a whole number followed by m, h, d or w, up to "3650d". Lengths are fixed, so "30d" is 720 hours; there are no
 * calendar months. */
export type Duration = `${number}${"m" | "h" | "d" | "w"}`;

/** A condition on a customer: true or false at every instant. */
export interface Condition {
  readonly [NODE]: Node.Condition;
}

/** A condition on the properties of one event. It is met or not by each event alone. */
export interface PropertyCondition {
  readonly [NODE]: Node.PropertyCondition;
}

/** Makes a condition of its part of the snapshot. */
export function condition(node: Node.Condition): Condition {
  return { [NODE]: withSourceLocation(node) };
}

/** Makes a condition on properties of its part of the snapshot. */
export function propertyCondition(node: Node.PropertyCondition): PropertyCondition {
  return { [NODE]: withSourceLocation(node) };
}

/** The part of the snapshot that a value carries; null, which no snapshot allows, for a value that carries none. So a mistake that
 * got past the type checker is reported by the validation, at its place, instead of being dropped. */
export function nodeOf(value: { readonly [NODE]: Node.Condition }): Node.Condition;
export function nodeOf(value: { readonly [NODE]: Node.PropertyCondition }): Node.PropertyCondition;
export function nodeOf(value: { readonly [NODE]?: unknown } | null | undefined): unknown {
  return value?.[NODE] ?? null;
}

/** Holds while each of the conditions holds. At least one is needed. */
export function all(...conditions: Condition[]): Condition;
export function all(...conditions: PropertyCondition[]): PropertyCondition;
export function all(...conditions: Condition[] | PropertyCondition[]): Condition | PropertyCondition {
  return combine("all", conditions);
}

/** Holds while at least one of the conditions holds. At least one is needed. */
export function any(...conditions: Condition[]): Condition;
export function any(...conditions: PropertyCondition[]): PropertyCondition;
export function any(...conditions: Condition[] | PropertyCondition[]): Condition | PropertyCondition {
  return combine("any", conditions);
}

// The two families build the same nodes; the overloads keep them apart. What could not be made is left out, in a filter it has no place.
function combine(kind: "all" | "any", conditions: Condition[] | PropertyCondition[]): Condition {
  const nodes = (conditions as Condition[]).map((part) => nodeOf(part));
  const made = nodes.filter((node) => node !== RECOVERY_NODE);
  return made.length < nodes.length && made.length === 0
    ? { [NODE]: RECOVERY_NODE }
    : condition({ kind, conditions: made });
}

/** Holds exactly while the condition does not; so it also holds where the condition compares something absent. */
export function not(condition: Condition): Condition;
export function not(condition: PropertyCondition): PropertyCondition;
export function not(negated: Condition | PropertyCondition): Condition | PropertyCondition {
  const node = nodeOf(negated as Condition);
  return node === RECOVERY_NODE ? { [NODE]: RECOVERY_NODE } : condition({ kind: "not", condition: node });
}

/** What can be asked of something that is one of a few. */
export function membership<Value>(isIn: (values: Value[]) => Condition) {
  return {
    is: (value: Value) => isIn([value]),
    in: (...values: Value[]) => isIn(values),
    isNot: (value: Value) => not(isIn([value])),
  };
}

/**
 * A value, or a function that returns it. Functions are called when the model is compiled, when every module has loaded, so they may
 * name what a module defines that itself imports this one: `to: { at_risk: () => quiet.has() }`.
 *
 * The names inside the function are checked as everywhere. That it returns a `T` is checked when the model is compiled: for the type of
 * `stages` not to depend on that of `quiet`, which depends on `stages`, the type checker must not look at what is returned.
 */
export type Lazy<T> = T | Deferred;

// oxlint-disable-next-line typescript/no-explicit-any -- the only type for which the checker does not infer what is returned
type Deferred = () => any;

/** What a lazy value stands for. Something absent is carried on, for the validation to report. */
export function resolve<T>(value: Lazy<T> | undefined): T {
  return (typeof value === "function" ? attempt(value as () => T, recoveryValue()) : value) as T;
}
