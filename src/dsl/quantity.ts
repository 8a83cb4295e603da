import type * as Node from "../model/snapshot/types.js";
import { type Condition, condition, type Duration } from "./condition.js";
import type { AnyJourney } from "./journey.js";
import { strictProxy } from "./mistakes.js";
import { MEASURE, PART, type Selection, selectorOf } from "./part.js";

/** From when occurrences count: the entry of the current lifecycle state, or the start of a journey's current or last run. */
export type Start = "state" | AnyJourney;

/**
 * Which occurrences are read: all there ever were, unless one of these is called (at most one). In a step of a journey, occurrences count
 * from the journey's start (or the previous step) unless `since` is called.
 */
export interface Scopes<Result> {
  /** Only those in the latest window: after `now - duration`, up to now. */
  within(duration: Duration): Result;
  /** Only those since the current lifecycle state was entered, `since("state")`, or since a journey's current or last run started,
   * `since(onboarding)`; none if it never started. The event that caused the start is not among them. */
  since(start: Start): Result;
}

/** A complete condition over all time, which can still be narrowed by `.within` or `.since`. */
export type OpenCondition = Condition & Scopes<Condition>;

/** The methods that narrow to a scope; each calls `narrow`. */
export function scopes<Result>(narrow: (scope: Node.OccurrenceScope) => Result): Scopes<Result> {
  return { within: (duration) => narrow({ within: duration }), since: (start) => narrow({ since: sinceOf(start) }) };
}

/** The snapshot node of a start; null, which the validation refuses, for a part that is no journey. */
export function sinceOf(start: Start): Node.Since {
  if (typeof start !== "object") return start;
  return (start as AnyJourney | null)?.[PART] === "journey" ? { journey: start.id } : (null as never);
}

/** The comparisons of any number. A comparison with an absent number is false, except `notEquals`. */
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
  /** The exact negation of `equals`, so it holds if there is no number. */
  notEquals(value: number): Result;
}

/** The comparisons of a number; each calls `compare`. */
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

/** A number from which `scale` or `steps` can score a health component: a count, sum, average, least or greatest value, a distinct count,
 * the latest value of a number property, days since an event, a numeric trait, a ratio or a difference. */
export interface Measure {
  readonly [MEASURE]: Node.Measure;
}

/** Calculations with numbers. Days since an event cannot be used in them. */
export interface Arithmetic {
  /** This number divided by another: `login.distinct("user").within("30d").per(customer.seats)`. Absent if either is absent or the other
   * one is 0. */
  per(divisor: Measure): Calculated;
  /** This number minus another: `added.sum("seats").minus(removed.sum("seats"))`, exact in decimals. Absent if either is absent. */
  minus(other: Measure): Calculated;
}

/** A ratio or a difference of two numbers: it can be compared, score a health component, and be used in further calculations. */
export type Calculated = Comparisons<Condition> & Measure & Arithmetic;

/** A number whose scope is set: it only needs to be compared. */
export type ScopedQuantity = Comparisons<Condition> & Measure & Arithmetic;

/** A number over the latest window. */
export interface WindowedQuantity extends ScopedQuantity {
  /** The same number over the previous window: after `now - 2 * duration`, up to `now - duration`. Only for counts, sums and averages:
   * `usage.per(usage.previous()).atMost(0.5)`, where `usage` is `reportRun.count().within("30d")`. */
  previous(): ScopedQuantity;
}

/** A number computed from occurrences: `count().atLeast(3)`, `count().within("30d").atLeast(3)` and `count().atLeast(3).within("30d")` are
 * all valid. It can also score a health component. */
export interface Quantity extends Comparisons<OpenCondition>, Scopes<ScopedQuantity>, Measure, Arithmetic {
  within(duration: Duration): WindowedQuantity;
}

type QuantityNode = Extract<Node.Measure, { kind: "count" | "aggregate" | "distinct" }>;

/** The number of a measure of occurrences. */
export function quantity(node: QuantityNode): Quantity {
  const owner = `the ${nameOf(node)} of ${JSON.stringify(node.of.event)}`;
  const guard = { owner, standIns: { measure: node } };
  const scoped = (scope: Node.OccurrenceScope & { previous?: true }) =>
    strictProxy(settled({ ...node, ...scope }), guard);
  const windowed = (within: Duration) =>
    strictProxy({ ...settled({ ...node, within }), previous: () => scoped({ within, previous: true }) }, guard);
  const open = comparisons((operator, value) =>
    openCondition(owner, (scope) => ({ ...node, ...scope, operator, value })),
  );
  return strictProxy({ ...open, ...scopes(scoped), within: windowed, ...measured(node) }, guard);
}

/** A number that only needs to be compared. */
function settled(node: QuantityNode | Node.CalculatedMeasure): Calculated {
  const compare = comparisons((operator, value) => condition({ ...node, operator, value }));
  return { ...compare, ...measured(node) };
}

/** The measure of a number, and the calculations with it. */
export function measured(of: Node.Measure): Measure & Arithmetic {
  const calculated = (node: Node.CalculatedMeasure) =>
    strictProxy(settled(node), { owner: `a ${node.kind}`, standIns: { measure: node } });
  return {
    [MEASURE]: of,
    per: (divisor) => calculated({ kind: "ratio", of, per: measureOf(divisor) }),
    minus: (other) => calculated({ kind: "difference", of, minus: measureOf(other) }),
  };
}

/** The measure of a value; null, which the validation refuses, for a value that is not a number. */
export function measureOf(measure: Measure): Node.Measure {
  return (measure as Partial<Measure> | null | undefined)?.[MEASURE] ?? (null as never);
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

/** A number of whole days, rounded down; absent if the event never happened, in which case every comparison except `notEquals` is false. */
export type Days = Comparisons<Condition> & Measure;

/** The whole days since an event last happened: `daysSince(login).moreThan(7)`. In a step of a journey, only an occurrence since the
 * journey's start (or the previous step) counts. */
export function daysSince(event: Selection): Days {
  return days(event, "last");
}

/** The whole days since an event happened for the very first time, whatever came after. */
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
