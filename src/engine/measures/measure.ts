import type { EventSelector, OccurrenceScope } from "../../model/snapshot/types.js";
import { scopeText, selectorText } from "../conditions/phrases.js";
import type { CompiledScope, ConditionContext } from "../compile-context.js";
import type { Aggregate, EvaluationContext, NextChange, ScopedAggregate, Stream } from "../evaluation-context.js";
import type { OccurrenceSelection } from "../selection.js";
import type { Json } from "../state/types.js";

/** What is made of a number, such as whether it reaches a limit, or a score. */
export interface Reading<V = unknown> {
  of: (value: number | undefined) => V;
  /** Between two neighbouring limits, and outside them all, `of` is constant or strictly monotone. */
  limits: readonly number[];
  /** Whether `of` can become another one, where it is now this, as long as the number does not rise, or does not fall. */
  steadyAs?: (value: V) => "not rising" | "not falling";
}

export interface CompiledMeasure {
  text: string;
  /** The number at the customer's clock; undefined where it is absent. Beyond the limits of all readings it may stop growing. */
  value: (customer: EvaluationContext) => number | undefined;
  /** Whether the value stopped growing, and there may be more. */
  isBounded: (customer: EvaluationContext) => boolean;
  nextChange: NextChange | undefined;
}

export type OfProperty = { of: EventSelector; property: string } & OccurrenceScope;

export function selectionOf<T>(
  of: EventSelector,
  read: OccurrenceSelection<T>["read"],
  { registry }: ConditionContext,
): OccurrenceSelection<T> {
  return { event: of.event, where: registry.where(of), read };
}

/** A key for what an aggregate computes, in which only the scope is missing. */
export function keyOf(kind: string, of: EventSelector, property: string): Json {
  return [kind, of.event, of.where ?? null, property];
}

/** How many of something must be told apart so that a reading knows enough. */
export function capacityFor({ limits }: { limits: readonly number[] }): number {
  return Math.max(0, ...limits.map((limit) => Math.floor(limit) + 1));
}

/** A stream of the model, entered in what is read. */
export function addStream({ registry, reads, source }: ConditionContext, of: EventSelector): Stream {
  const stream = registry.stream(of, source);
  reads.streams.add(stream);
  return stream;
}

type Kind = Aggregate["kind"];
type Open = Parameters<ConditionContext["registry"]["aggregate"]>[2];

/** An aggregate of the model that remembers what one scope needs, entered in what is read. */
export function addAggregate(
  context: ConditionContext,
  kind: Kind,
  of: Json,
  scope: CompiledScope,
  events: readonly string[],
  open: Open,
): Aggregate {
  return enter(context, kind, of, scope, events, open, false).aggregate;
}

/** An aggregate of the model that remembers the same for every scope, entered in what is read. */
export function addSharedAggregate(
  context: ConditionContext,
  kind: Kind,
  of: Json,
  scope: CompiledScope,
  events: readonly string[],
  open: Open,
): ScopedAggregate {
  return enter(context, kind, of, scope, events, open, true);
}

function enter(
  { registry, reads, source }: ConditionContext,
  kind: Kind,
  of: Json,
  { within, boundary }: CompiledScope,
  events: readonly string[],
  open: Open,
  isShared: boolean,
): ScopedAggregate {
  const key = { kind, of, within: within === Infinity ? null : within, boundary, isShared };
  const scoped = registry.aggregate(key, events, open, source);
  reads.aggregates.add(scoped.aggregate);
  return scoped;
}

export function propertyText(what: string, { of, property, ...scope }: OfProperty): string {
  return `${what} of ${property} of ${selectorText(of)}${scopeText(scope)}`;
}
