import type { Condition as ConditionNode, PropertyCondition as PropertyConditionNode } from "../snapshot/types.js";
import { located } from "./site.js";

/** The key under which a value of this language carries its part of the snapshot. */
export const NODE: unique symbol = Symbol("svc.node");

/** A length of time: a whole number followed by m, h, d or w. Lengths are fixed, so "30d" is 720 hours. */
export type Duration = `${number}${"m" | "h" | "d" | "w"}`;

/** A condition on a customer: true or false at every instant. */
export interface Condition {
  readonly [NODE]: ConditionNode;
}

/** A condition on the properties of one event. It is met or not by each event alone. */
export interface PropertyCondition {
  readonly [NODE]: PropertyConditionNode;
}

/** A value, or a function that returns it. Functions are called when the model is compiled, when every module has loaded, so they
 * may name what a module defines that itself imports this one. */
export type Lazy<T> = T | (() => T);

/** Makes a condition of its part of the snapshot. */
export function condition(node: ConditionNode): Condition {
  return { [NODE]: located(node) };
}

/** Makes a condition on properties of its part of the snapshot. */
export function propertyCondition(node: PropertyConditionNode): PropertyCondition {
  return { [NODE]: located(node) };
}

/** The part of the snapshot that a value carries; null, which no snapshot allows, for a value that carries none. So a mistake that
 * got past the type checker is reported by the validation, at its place, instead of being dropped. */
export function nodeOf(value: { readonly [NODE]: ConditionNode }): ConditionNode;
export function nodeOf(value: { readonly [NODE]: PropertyConditionNode }): PropertyConditionNode;
export function nodeOf(value: { readonly [NODE]?: unknown } | null | undefined): unknown {
  return value?.[NODE] ?? null;
}

/** Holds while each of the conditions holds. */
export function all(...conditions: Condition[]): Condition;
export function all(...conditions: PropertyCondition[]): PropertyCondition;
export function all(...conditions: Condition[] | PropertyCondition[]): Condition | PropertyCondition {
  return combine("all", conditions);
}

/** Holds while at least one of the conditions holds. */
export function any(...conditions: Condition[]): Condition;
export function any(...conditions: PropertyCondition[]): PropertyCondition;
export function any(...conditions: Condition[] | PropertyCondition[]): Condition | PropertyCondition {
  return combine("any", conditions);
}

function combine(kind: "all" | "any", conditions: Condition[] | PropertyCondition[]): Condition | PropertyCondition {
  // Both readings build the same node; the overloads above keep the two families apart.
  return condition({ kind, conditions: (conditions as Condition[]).map((part) => nodeOf(part)) });
}

/** Holds exactly while the condition does not. */
export function not(condition: Condition): Condition;
export function not(condition: PropertyCondition): PropertyCondition;
export function not(negated: Condition | PropertyCondition): Condition | PropertyCondition {
  return condition({ kind: "not", condition: nodeOf(negated as Condition) });
}
