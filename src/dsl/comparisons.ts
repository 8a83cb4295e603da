import type { OrderOperator } from "../snapshot/types.js";

/** What any number can be asked. A comparison with an absent number is false. */
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
export function comparisons<Result>(compare: (operator: OrderOperator, value: number) => Result): Comparisons<Result> {
  return {
    atLeast: (value) => compare("gte", value),
    atMost: (value) => compare("lte", value),
    moreThan: (value) => compare("gt", value),
    lessThan: (value) => compare("lt", value),
    equals: (value) => compare("eq", value),
    notEquals: (value) => compare("ne", value),
  };
}
