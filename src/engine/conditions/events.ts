import { parseDuration } from "../../model/snapshot/duration.js";
import type {
  Condition,
  EventSelector,
  Field,
  Measure,
  OccurrenceScope,
  OrderOperator,
} from "../../model/snapshot/types.js";
import { LatestAggregate } from "../aggregates/latest.js";
import { SequenceAggregate, type SequenceSelection } from "../aggregates/sequence.js";
import { compileScope, compileSince, type ConditionContext } from "../compile-context.js";
import type { EvaluationContext } from "../evaluation-context.js";
import { memberReader } from "../json.js";
import {
  addAggregate,
  addSharedAggregate,
  keyOf,
  propertyText,
  type Reading,
  selectionOf,
} from "../measures/measure.js";
import { compileMeasure } from "../measures/measures.js";
import type { AggregateMemory, Json, LatestMemory, SequenceMemory } from "../state/types.js";
import { compileComparison, compileExists, compileOrder, parseInstant, type ValueTest } from "./compare.js";
import type { Leaf } from "./leaf.js";
import { comparisonText, expectation, lacking, lackingWhole, selectorText, shown } from "./phrases.js";

type Of<K extends Condition["kind"]> = Extract<Condition, { kind: K }>;

/** A comparison of a number that is computed of occurrences. */
export function compileMeasured(
  condition: Of<"aggregate"> | Of<"distinct"> | Of<"daysSince">,
  context: ConditionContext,
): Leaf {
  const { kind, operator, value: expected } = condition;
  const reading = orderReading(operator, expected);
  const measure = compileMeasure(condition as Measure, reading, context);
  const isWhole = kind !== "aggregate";
  const lacks = isWhole ? lackingWhole : lacking;
  return {
    kind,
    text: `${measure.text} ${comparisonText(operator, expected)}`,
    expected: expectation(operator, expected),
    test: (customer) => reading.of(measure.value(customer)),
    nextChange: measure.nextChange,
    actual: (customer) => {
      const value = measure.value(customer);
      if (value === undefined) return null;
      return measure.isBounded(customer) ? `${value} or more` : value;
    },
    missing: (customer) => {
      const value = measure.value(customer);
      return value === undefined ? expectation(operator, expected) : lacks(operator, expected, value);
    },
  };
}

/** An absent number compares as false, except where the comparison is a negation. */
function orderReading(operator: OrderOperator, expected: number): Reading<boolean> {
  const compare = compileOrder(operator, expected);
  const of = (value: number | undefined): boolean => (value === undefined ? operator === "ne" : compare(value));
  const limits = [expected];
  switch (operator) {
    case "gt":
    case "gte":
      return { of, limits, steadyAs: (met) => (met ? "not falling" : "not rising") };
    case "lt":
    case "lte":
      return { of, limits, steadyAs: (met) => (met ? "not rising" : "not falling") };
    default:
      return { of, limits };
  }
}

/** What a latest value is remembered as: whether it compares as asked, and how an explanation shows it. */
type Compared = [met: boolean, shown: Json];

/** A comparison of a property's value at the latest occurrence that has one. */
export function compileLatest(condition: Of<"latest"> | Of<"latestExists">, context: ConditionContext): Leaf {
  const { of, property } = condition;
  const field = context.registry.field(of.event, property);
  const isComparison = condition.kind === "latest";
  const test = isComparison ? compileComparison(field, condition.operator, condition.value) : compileExists(field);
  const question: Json = isComparison ? [condition.operator, condition.value] : null;
  const scope = compileScope(condition, context);
  const selection = selectionOf<Json>(of, comparedReader(property, field, test), context);
  const key = [keyOf("latest", of, property), question];
  const open = (memory: AggregateMemory | null): LatestAggregate =>
    new LatestAggregate(selection, memory as LatestMemory | null);
  const { index } = addSharedAggregate(context, "latest", key, scope, [of.event], open).aggregate;
  const working = (customer: EvaluationContext): LatestAggregate => customer.aggregates[index] as LatestAggregate;
  const compared = (customer: EvaluationContext): Compared | undefined =>
    working(customer).read(customer, scope) as Compared | undefined;
  const withoutValue = test(undefined);
  const holds = (customer: EvaluationContext): boolean => compared(customer)?.[0] ?? withoutValue;
  const text = propertyText("latest", condition);
  return {
    kind: condition.kind,
    text: isComparison ? `${text} ${comparisonText(condition.operator, condition.value)}` : `${text} exists`,
    expected: isComparison ? expectation(condition.operator, condition.value) : "exists",
    test: holds,
    nextChange:
      scope.within === Infinity
        ? undefined
        : (customer) => (holds(customer) === withoutValue ? Infinity : working(customer).leavesAt(customer, scope)),
    actual: (customer) => compared(customer)?.[1] ?? null,
  };
}

function comparedReader(
  property: string,
  field: Field | undefined,
  test: ValueTest,
): (properties: Record<string, Json>) => Json | undefined {
  const read = memberReader(property);
  return (properties) => {
    const value = read(properties);
    return isOfType(field, value) ? [test(value), shown(value)] : undefined;
  };
}

function isOfType(field: Field | undefined, value: Json | undefined): boolean {
  if (value === undefined || value === null) return false;
  switch (field?.type) {
    case undefined:
      return true;
    case "array":
      return Array.isArray(value);
    case "date":
      return parseInstant(value) !== undefined;
    default:
      return typeof value === field?.type;
  }
}

/** Whether one occurrence and a later one, close enough, have happened. */
export function compileSequence(condition: Of<"sequence">, context: ConditionContext): Leaf {
  const { first, then, since } = condition;
  const boundary = since === undefined ? context.boundary : compileSince(since, context);
  const scope = { within: Infinity, boundary };
  const of = (selector: EventSelector): SequenceSelection["first"] => selectionOf<true>(selector, () => true, context);
  const selection = { first: of(first), then: of(then), within: parseDuration(condition.within), boundary };
  const key: Json = ["sequence", plain(first), plain(then), selection.within];
  const { index } = addAggregate(context, "sequence", key, scope, [first.event, then.event], (memory) => {
    return new SequenceAggregate(selection, memory as SequenceMemory | null);
  });
  const test = (customer: EvaluationContext): boolean =>
    (customer.aggregates[index] as SequenceAggregate).read(customer);
  const happened = `${selectorText(first)} then ${selectorText(then)} within ${condition.within}`;
  return {
    kind: "sequence",
    text: happened + sinceText(condition),
    expected: "happened",
    test,
    actual: (customer) => (test(customer) ? "happened" : null),
  };
}

function plain({ event, where }: EventSelector): Json {
  return [event, where ?? null];
}

function sinceText({ since }: Pick<OccurrenceScope, "since">): string {
  if (since === undefined) return "";
  return since === "state" ? ", since the state was entered" : `, since ${JSON.stringify(since.journey)} started`;
}
