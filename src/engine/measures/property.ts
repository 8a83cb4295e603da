import { digest } from "../../model/snapshot/canonical.js";
import type { EventSelector } from "../../model/snapshot/types.js";
import { DistinctAggregate, type DistinctReader } from "../aggregates/distinct.js";
import { ExtremeAggregate } from "../aggregates/extreme.js";
import { FirstAggregate, LatestAggregate } from "../aggregates/latest.js";
import { SumAggregate, type SumReading } from "../aggregates/sum.js";
import { parseInstant } from "../conditions/compare.js";
import { selectorText } from "../conditions/phrases.js";
import { compileScope, type ConditionContext } from "../compile-context.js";
import type { EvaluationContext } from "../evaluation-context.js";
import { memberReader } from "../json.js";
import { numberReader, type OccurrenceSelection } from "../selection.js";
import { counts } from "../state/boundary.js";
import type {
  DistinctMemory,
  DistinctValue,
  ExtremeMemory,
  FirstMemory,
  Json,
  LatestMemory,
  SumMemory,
} from "../state/types.js";
import {
  addAggregate,
  addSharedAggregate,
  addStream,
  capacityFor,
  type CompiledMeasure,
  keyOf,
  type OfProperty,
  propertyText,
  type Reading,
  selectionOf,
} from "./measure.js";

const DAY = 86_400_000;

/** Whole days since the first occurrence of all, or since the last one that counts. */
export function compileDaysSince<V>(
  measure: { which: "first" | "last"; of: EventSelector },
  reading: Reading<V>,
  context: ConditionContext,
): CompiledMeasure {
  const since = measure.which === "first" ? compileFirst(measure.of, context) : compileLast(measure.of, context);
  const value = (customer: EvaluationContext): number | undefined => {
    const instant = since(customer);
    return instant === -Infinity ? undefined : Math.floor((customer.clock - instant) / DAY);
  };
  const limits = [...new Set(reading.limits.flatMap((limit) => [Math.ceil(limit), Math.floor(limit) + 1]))];
  limits.sort((a, b) => a - b);
  return {
    text: `days since the ${measure.which} ${selectorText(measure.of)}`,
    value,
    isBounded: () => false,
    nextChange: (customer) => {
      const days = value(customer);
      if (days === undefined) return Infinity;
      const present = reading.of(days);
      const instant = since(customer);
      // Whatever is constant from tomorrow on changes at a limit.
      if (reading.of(days + 1) !== present) return instant + (days + 1) * DAY;
      const next = limits.find((limit) => limit > days && reading.of(limit) !== present);
      return next === undefined ? Infinity : instant + next * DAY;
    },
  };
}

/** The instant of the first occurrence of all. */
function compileFirst(of: EventSelector, context: ConditionContext): (customer: EvaluationContext) => number {
  const scope = { within: Infinity, boundary: undefined };
  const selection = selectionOf<true>(of, () => true, context);
  const { index } = addAggregate(context, "first", keyOf("first", of, ""), scope, [of.event], (memory) => {
    return new FirstAggregate(selection, memory as FirstMemory | null);
  });
  return (customer) => (customer.aggregates[index] as FirstAggregate).occurredAt;
}

/** The instant of the last occurrence that counts. */
function compileLast(of: EventSelector, context: ConditionContext): (customer: EvaluationContext) => number {
  const stream = addStream(context, of);
  stream.capacity = Math.max(stream.capacity, 1);
  const { boundary } = context;
  return (customer) => {
    const { occurredAt, seq } = customer.streams[stream.index]!;
    const at = occurredAt.length - 1;
    if (at < 0 || (boundary !== undefined && !counts(boundary(customer), occurredAt[at]!, seq[at]!))) return -Infinity;
    return occurredAt[at]!;
  };
}

/** Longer texts are told apart by their hash, so that memory stays small. */
export const DISTINCT_TEXT_MAX = 64;

/** The exact sum of a number property, or its average. */
export function compileSum<V>(
  measure: OfProperty & { function: "sum" | "avg" },
  { of, steadyAs }: Reading<V>,
  context: ConditionContext,
): CompiledMeasure {
  const scope = compileScope(measure, context);
  const selection = { ...selectionOf(measure.of, numberReader(measure.property), context), ...scope };
  const key = keyOf("sum", measure.of, measure.property);
  const { index } = addAggregate(context, "sum", key, scope, [measure.of.event], (memory) => {
    return new SumAggregate(selection, memory as SumMemory | null);
  });
  const value: SumReading<number | undefined> =
    measure.function === "sum" ? (sum) => sum : (sum, count) => (count === 0 ? undefined : sum / count);
  const read: SumReading<V> = (sum, count) => of(value(sum, count));
  const steady = measure.function === "sum" ? steadyAs : undefined;
  return {
    text: propertyText(measure.function, measure),
    value: (customer) => (customer.aggregates[index] as SumAggregate).read(customer, value),
    isBounded: () => false,
    nextChange:
      scope.within === Infinity
        ? undefined
        : (customer) => (customer.aggregates[index] as SumAggregate).nextChange(customer, read, steady),
  };
}

/** The least or the greatest value of a number property. */
export function compileExtreme<V>(
  measure: OfProperty & { function: "min" | "max" },
  { of, limits }: Reading<V>,
  context: ConditionContext,
): CompiledMeasure {
  const scope = compileScope(measure, context);
  const sign = measure.function === "max" ? 1 : -1;
  const number = numberReader(measure.property);
  const signed: OccurrenceSelection<number>["read"] = (properties) => {
    const value = number(properties);
    // Zero has no sign here: -1 * 0 is -0, which is written as 0 but is not the same to Object.is.
    return value === undefined ? undefined : sign * value + 0;
  };
  const selection = { ...selectionOf(measure.of, signed, context), ...scope };
  const key = keyOf(measure.function, measure.of, measure.property);
  const { index } = addAggregate(context, "extreme", key, scope, [measure.of.event], (memory) => {
    return new ExtremeAggregate(selection, memory as ExtremeMemory | null);
  });
  const unsigned = (value: number | undefined): number | undefined =>
    value === undefined ? undefined : sign * value + 0;
  const read = (greatest: number | undefined): V => of(unsigned(greatest));
  const signedLimits = limits.map((limit) => sign * limit);
  return {
    text: propertyText(measure.function, measure),
    value: (customer) => unsigned((customer.aggregates[index] as ExtremeAggregate).read(customer)),
    isBounded: () => false,
    nextChange:
      scope.within === Infinity
        ? undefined
        : (customer) => (customer.aggregates[index] as ExtremeAggregate).nextChange(customer, read, signedLimits),
  };
}

/** How many different values a property holds. */
export function compileDistinct<V>(
  measure: OfProperty,
  reading: Reading<V>,
  context: ConditionContext,
): CompiledMeasure {
  const scope = compileScope(measure, context);
  const { of, property } = measure;
  const isDate = context.registry.field(of.event, property)?.type === "date";
  const selection = selectionOf(of, distinctReader(property, isDate), context);
  const key = keyOf("distinct", of, property);
  const scoped = addSharedAggregate(context, "distinct", key, scope, [of.event], (memory, made) => {
    return new DistinctAggregate(selection, made, memory as DistinctMemory | null);
  });
  const { aggregate } = scoped;
  scoped.capacity = Math.max(scoped.capacity, capacityFor(reading));
  aggregate.capacity = Math.max(aggregate.capacity, scoped.capacity);
  const reader: DistinctReader = {
    ...scope,
    // Other conditions of this scope may come and tell apart more.
    get capacity() {
      return scoped.capacity;
    },
  };
  const working = (customer: EvaluationContext): DistinctAggregate =>
    customer.aggregates[aggregate.index] as DistinctAggregate;
  const value = (customer: EvaluationContext): number => working(customer).read(customer, reader);
  return {
    text: propertyText("distinct values", measure),
    value,
    isBounded: (customer) => value(customer) >= scoped.capacity,
    nextChange:
      scope.within === Infinity
        ? undefined
        : (customer) => working(customer).nextChange(customer, reader, reading.of, reading.limits),
  };
}

/** The number that a property holds at the latest occurrence that has one. */
export function compileLatestNumber<V>(
  measure: OfProperty,
  { of }: Reading<V>,
  context: ConditionContext,
): CompiledMeasure {
  const scope = compileScope(measure, context);
  const selection = selectionOf<Json>(measure.of, numberReader(measure.property), context);
  const key = keyOf("latest number", measure.of, measure.property);
  const { index } = addSharedAggregate(context, "latest", key, scope, [measure.of.event], (memory) => {
    return new LatestAggregate(selection, memory as LatestMemory | null);
  }).aggregate;
  const working = (customer: EvaluationContext): LatestAggregate => customer.aggregates[index] as LatestAggregate;
  const value = (customer: EvaluationContext): number | undefined =>
    working(customer).read(customer, scope) as number | undefined;
  const leavesAt = (customer: EvaluationContext): number => working(customer).leavesAt(customer, scope);
  return {
    text: propertyText("latest", measure),
    value,
    isBounded: () => false,
    // When the latest value leaves the window, none is left.
    nextChange:
      scope.within === Infinity
        ? undefined
        : (customer) => (of(value(customer)) === of(undefined) ? Infinity : leavesAt(customer)),
  };
}

function distinctReader(property: string, isDate: boolean): OccurrenceSelection<DistinctValue>["read"] {
  const read = memberReader(property);
  if (isDate) return (properties) => parseInstant(read(properties));
  return (properties) => {
    const value = read(properties);
    if (typeof value === "string") return value.length <= DISTINCT_TEXT_MAX ? value : hashed(value);
    return typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value)) ? value : undefined;
  };
}

/** Longer than any text that is kept as it is, so it is none of them. */
function hashed(text: string): string {
  return `sha256:${digest(text).toString("hex")}`;
}
