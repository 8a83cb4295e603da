import { parseDuration } from "../../model/snapshot/duration.js";
import type { Condition, EventSelector, Field, OrderOperator } from "../../model/snapshot/types.js";
import { LatestAggregate } from "../aggregates/latest.js";
import type { OccurrenceSelection } from "../aggregates/scope.js";
import { SequenceAggregate } from "../aggregates/sequence.js";
import type { ConditionContext, SearchedReading } from "../compile-context.js";
import { addAggregate, compileScope, keyOf, selectionOf, shownMeasure } from "../compile-context.js";
import { memberReader } from "../json.js";
import type { Region } from "../measures/margins.js";
import { type CompiledCount, compileCountComparison } from "../measures/count.js";
import { compileMeasure, isSearched } from "../measures/calculated.js";
import type { OpenCustomer } from "../open-customer.js";
import type { Json } from "../state/types.js";
import { compileComparison, compileExists, compileOrder, isOfType, type ValueTest } from "./compare.js";
import type { Leaf } from "./leaf.js";
import { expectation, lacking, lackingWhole, shown } from "./phrases.js";

type Of<K extends Condition["kind"]> = Extract<Condition, { kind: K }>;

/** A comparison of a number that is computed from occurrences. */
export function compileMeasured(
  condition: Of<"count" | "aggregate" | "distinct" | "daysSince" | "ratio" | "difference">,
  context: ConditionContext,
): Leaf {
  const { operator, value: expected } = condition;
  const reading = orderReading(operator, expected);
  const measure =
    condition.kind === "count" && !isSearched(condition, reading)
      ? compileCountComparison(condition, context)
      : compareMeasure(condition, reading, context);
  const isWhole = condition.kind === "count" || condition.kind === "distinct" || condition.kind === "daysSince";
  const lacks = isWhole ? lackingWhole : lacking;
  return {
    expected: expectation(operator, expected),
    test: measure.test,
    nextChange: measure.nextChange,
    actual: (customer) => shownMeasure(measure, customer),
    operands: measure.operands,
    missing: (customer) => {
      const value = measure.value(customer);
      return value === undefined ? expectation(operator, expected) : lacks(operator, expected, value);
    },
  };
}

function compareMeasure(
  condition: Of<"count" | "aggregate" | "distinct" | "daysSince" | "ratio" | "difference">,
  reading: SearchedReading<boolean>,
  context: ConditionContext,
): CompiledCount {
  const measure = compileMeasure(condition, reading, context);
  return { ...measure, test: (customer: OpenCustomer) => reading.of(measure.value(customer)) };
}

/** An absent number compares as false, except with `ne`. */
function orderReading(operator: OrderOperator, expected: number): SearchedReading<boolean> {
  const compare = compileOrder(operator, expected);
  const of = (value: number | undefined): boolean => (value === undefined ? operator === "ne" : compare(value));
  const limits = [expected];
  const isEqual = operator === "eq" || operator === "ne";
  const regionOf = (value: number): Region => {
    const end = { limit: expected, isIn: of(value) === of(expected) };
    return {
      low: value > expected || (value === expected && operator !== "lte" && operator !== "gt") ? end : null,
      high: value < expected || (value === expected && operator !== "gte" && operator !== "lt") ? end : null,
    };
  };
  return { of, limits, isMonotone: !isEqual, regionOf };
}

/** The form in which a latest value is stored: whether the comparison holds, and how an explanation shows it. */
type Compared = [met: boolean, shown: Json];

/** A comparison of a property's value at the latest occurrence that has one. */
export function compileLatest(condition: Of<"latest" | "latestExists">, context: ConditionContext): Leaf {
  const { of, property } = condition;
  const field = context.registry.field(of.event, property);
  const isComparison = condition.kind === "latest";
  const test = isComparison ? compileComparison(field, condition.operator, condition.value) : compileExists(field);
  const question: Json = isComparison ? [condition.operator, condition.value] : null;
  const scope = compileScope(condition, context);
  const selection = selectionOf<Json>(of, comparedReader(property, field, test), context);
  const key = [keyOf("latest", of, property), question];
  const latest = addAggregate(context, "latest", key, scope, [of.event], (memory) => {
    return new LatestAggregate(selection, memory);
  });
  const compared = (customer: OpenCustomer) => latest.of(customer).read(customer, scope) as Compared | undefined;
  const withoutValue = test(undefined);
  const holds = (customer: OpenCustomer): boolean => compared(customer)?.[0] ?? withoutValue;
  return {
    expected: isComparison ? expectation(condition.operator, condition.value) : "exists",
    test: holds,
    nextChange:
      scope.within === Infinity
        ? undefined
        : (customer) => (holds(customer) === withoutValue ? Infinity : latest.of(customer).leavesAt(customer, scope)),
    actual: (customer) => compared(customer)?.[1] ?? null,
  };
}

function comparedReader(
  property: string,
  field: Field | undefined,
  test: ValueTest,
): OccurrenceSelection<Compared>["read"] {
  const read = memberReader(property);
  return (properties) => {
    const value = read(properties);
    return isOfType(field, value) ? [test(value), shown(value)] : undefined;
  };
}

/** Whether one occurrence and a later one, close enough, have happened. */
export function compileSequence({ first, then, within, since }: Of<"sequence">, context: ConditionContext): Leaf {
  const scope = compileScope(since === undefined ? {} : { since }, context);
  const of = (selector: EventSelector) => selectionOf<true>(selector, () => true, context);
  const selection = { first: of(first), then: of(then), within: parseDuration(within), boundary: scope.boundary };
  const plain = ({ event, where }: EventSelector): Json => [event, where ?? null];
  const key = ["sequence", plain(first), plain(then), selection.within];
  const sequence = addAggregate(context, "sequence", key, scope, [first.event, then.event], (memory) => {
    return new SequenceAggregate(selection, memory);
  });
  const test = (customer: OpenCustomer): boolean => sequence.of(customer).read(customer);
  return { expected: "happened", test, actual: (customer) => (test(customer) ? "happened" : null) };
}
