import type { Condition as ConditionNode, EventSelector } from "../snapshot/types.js";
import type { Condition, Duration } from "./condition.js";
import { condition } from "./condition.js";

type CountNode = Extract<ConditionNode, { kind: "count" }>;
type Scope = Pick<CountNode, "within" | "since">;

/** The number of occurrences of an event, to be compared with a whole number. */
export interface Comparisons<Result> {
  atLeast(count: number): Result;
  atMost(count: number): Result;
  moreThan(count: number): Result;
  lessThan(count: number): Result;
  equals(count: number): Result;
  notEquals(count: number): Result;
}

/** Which occurrences are counted. Without any of these it is all there ever were; at most one of them may be said. */
export interface Scopes<Result> {
  /** Only those of the latest stretch of time: those that occurred after `now - duration`, up to now. */
  within(duration: Duration): Result;
  /** Only those since the present lifecycle state was entered. */
  since(start: "state"): Result;
}

/** A count over a stretch of time that is settled: what is left to say is the comparison. */
export type ScopedCount = Comparisons<Condition>;

/** A comparison that is complete as it stands, for all time, and can still be narrowed to a stretch of time. */
export type CountCondition = Condition & Scopes<Condition>;

/** A count: `count().atLeast(3)`, `count().within("30d").atLeast(3)` and `count().atLeast(3).within("30d")` are all fine. */
export type Count = Comparisons<CountCondition> & Scopes<ScopedCount>;

/** The count of the selected occurrences. */
export function count(of: EventSelector): Count {
  return {
    ...comparisons((operator, value) => countCondition(of, operator, value)),
    ...scopes((scope) => comparisons((operator, value) => condition({ kind: "count", of, ...scope, operator, value }))),
  };
}

/** A comparison of a count that can still be narrowed to a stretch of time. */
export function countCondition(of: EventSelector, operator: CountNode["operator"], value: number): CountCondition {
  return {
    ...condition({ kind: "count", of, operator, value }),
    ...scopes((scope) => condition({ kind: "count", of, ...scope, operator, value })),
  };
}

function comparisons<Result>(compare: (operator: CountNode["operator"], value: number) => Result): Comparisons<Result> {
  return {
    atLeast: (value) => compare("gte", value),
    atMost: (value) => compare("lte", value),
    moreThan: (value) => compare("gt", value),
    lessThan: (value) => compare("lt", value),
    equals: (value) => compare("eq", value),
    notEquals: (value) => compare("ne", value),
  };
}

function scopes<Result>(narrow: (scope: Scope) => Result): Scopes<Result> {
  return { within: (duration) => narrow({ within: duration }), since: (start) => narrow({ since: start }) };
}
