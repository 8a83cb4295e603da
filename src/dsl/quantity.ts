import type * as Node from "../model/snapshot/types.js";
import { type Condition, condition, type Duration } from "./condition.js";
import type { AnyJourney } from "./journey.js";
import { strictProxy } from "./mistakes.js";
import { MEASURE, type Selection, selectorOf } from "./part.js";

/** Since when occurrences count: the entry of the present lifecycle state, or the start of a journey's present or last run. */
export type Start = "state" | AnyJourney;

/**
 * Which occurrences are read. Without any of these it is all there ever were; at most one of them may be said. In a step of a journey,
 * what says no `since` counts from the journey's start (or the previous step).
 */
export interface Scopes<Result> {
  /** Only those of the latest stretch of time: those that occurred after `now - duration`, up to now. */
  within(duration: Duration): Result;
  /** Only those since the present lifecycle state was entered, `since("state")`, or since a journey's present or last run started,
   * `since(onboarding)`; none where it never started. The event that caused the start is not among them. */
  since(start: Start): Result;
}

/** A condition that is complete as it stands, for all time, and can still be narrowed to a stretch of time. */
export type OpenCondition = Condition & Scopes<Condition>;

/** The methods that narrow to a scope, each of which calls `narrow`. */
export function scopes<Result>(narrow: (scope: Node.OccurrenceScope) => Result): Scopes<Result> {
  return { within: (duration) => narrow({ within: duration }), since: (start) => narrow({ since: sinceOf(start) }) };
}

/** The snapshot's word for a start. */
export function sinceOf(start: Start): Node.Since {
  return typeof start === "object" ? { journey: start.id } : start;
}

/** What any number can be asked. A comparison with an absent number is false, but for `notEquals`. */
export interface Comparisons<Result> {
  /** `>=` */
  atLeast(value: number): Result;
  /** `<=` */
  atMost(value: number): Result;
  /** `>` */
  moreThan(value: number): Result;
  /** `<` */
  lessThan(value: number): Result;
  /** `=` */
  equals(value: number): Result;
  /** The exact negation of `equals`, so it holds where there is no number. */
  notEquals(value: number): Result;
}

/** The methods of a number, each of which calls `compare`. */
export function comparisons<Result>(
  compare: (operator: Node.OrderOperator, value: number) => Result,
): Comparisons<Result> {
  return {
    atLeast: (value) => compare("gte", value),
    atMost: (value) => compare("lte", value),
    moreThan: (value) => compare("gt", value),
    lessThan: (value) => compare("lt", value),
    equals: (value) => compare("eq", value),
    notEquals: (value) => compare("ne", value),
  };
}

/** A number that a health component can be scored by, with `scale` or `steps`: a count, sum, average, least or greatest value, a distinct
 * count, the latest value of a number property, days since, a numeric trait. */
export interface Measure {
  readonly [MEASURE]: Node.Measure;
}

/** A number over a stretch of time that is settled: what is left to say is the comparison. */
export type ScopedQuantity = Comparisons<Condition> & Measure;

/** A number made of occurrences: `count().atLeast(3)`, `count().within("30d").atLeast(3)` and `count().atLeast(3).within("30d")` are all
 * fine, and it can score a health component. */
export type Quantity = Comparisons<OpenCondition> & Scopes<ScopedQuantity> & Measure;

type QuantityNode = Extract<Node.Measure, { kind: "count" | "aggregate" | "distinct" }>;

/** The number that a measure of occurrences stands for. */
export function quantity(node: QuantityNode): Quantity {
  const owner = `the ${nameOf(node)} of ${JSON.stringify(node.of.event)}`;
  const guard = { owner, standIns: { measure: node } };
  const scoped = (scope: Node.OccurrenceScope) =>
    strictProxy(
      {
        ...comparisons((operator, value) => condition({ ...node, ...scope, operator, value })),
        [MEASURE]: { ...node, ...scope },
      },
      guard,
    );
  const open = comparisons((operator, value) =>
    openCondition(owner, (scope) => ({ ...node, ...scope, operator, value })),
  );
  return strictProxy({ ...open, ...scopes(scoped), [MEASURE]: node }, guard);
}

function nameOf(node: QuantityNode): string {
  if (node.kind === "count") return "count";
  return `${node.kind === "distinct" ? "distinct" : `${node.function} of`} ${JSON.stringify(node.property)}`;
}

/** A condition that can still be narrowed to a scope. */
export function openCondition(owner: string, nodeFor: (scope: Node.OccurrenceScope) => Node.Condition): OpenCondition {
  const narrowed = scopes((scope) => condition(nodeFor(scope)));
  return strictProxy({ ...condition(nodeFor({})), ...narrowed }, { owner: `a condition on ${owner}` });
}

/** A number of whole days, rounded down; absent where the event never happened, so that every comparison but `notEquals` is false. */
export type Days = Comparisons<Condition> & Measure;

/** The whole days since an event last happened: `daysSince(login).moreThan(7)`. In a step of a journey, only an occurrence since the
 * journey's start (or the previous step) counts. */
export function daysSince(event: Selection): Days {
  return days(event, "last");
}

/** The whole days since an event happened for the first time of all, whatever came after. */
export function daysSinceFirst(event: Selection): Days {
  return days(event, "first");
}

function days(event: Selection, which: "first" | "last"): Days {
  const node = { kind: "daysSince", which, of: selectorOf(event) } as const;
  return strictProxy(
    { ...comparisons((operator, value) => condition({ ...node, operator, value })), [MEASURE]: node },
    { owner: "a number of days", standIns: { measure: node } },
  );
}
