import { digest } from "../../model/snapshot/canonical.js";
import { parseInstant } from "../../model/snapshot/duration.js";
import type { CalculatedMeasure, EventSelector, Field, Measure } from "../../model/snapshot/types.js";
import { DistinctAggregate } from "../aggregates/distinct.js";
import { ExtremeAggregate } from "../aggregates/extreme.js";
import { FirstAggregate, LatestAggregate } from "../aggregates/latest.js";
import { type CompiledScope, numberReader, type OccurrenceSelection } from "../aggregates/scope.js";
import { SumAggregate, unread } from "../aggregates/sum.js";
import type { CompiledMeasure, ConditionContext, Reading } from "../compile-context.js";
import { addAggregate, addStream, capacityFor, compileScope, keyOf, selectionOf } from "../compile-context.js";
import { isOfType } from "../conditions/compare.js";
import { memberReader } from "../json.js";
import type { OpenCustomer } from "../open-customer.js";
import type { FromStream } from "../state/layout.js";
import { counts } from "../state/boundary.js";
import type { DistinctValue, Json, SumMemory } from "../state/types.js";
import { compileCount } from "./count.js";

type Of<K extends Measure["kind"]> = Extract<Measure, { kind: K }>;

/** What is needed to compile a measure of occurrences. */
interface Place<V> {
  scope: CompiledScope;
  reading: Reading<V>;
  context: ConditionContext;
}

/** Compiles the number in a trait, or one computed from one event's past without a sum, as precisely as the reading needs it. */
export function compileSimpleMeasure<V>(
  measure: Exclude<Measure, CalculatedMeasure>,
  reading: Reading<V>,
  context: ConditionContext,
): CompiledMeasure {
  if (measure.kind === "trait") {
    const read = numberReader(measure.trait);
    return { value: (customer) => read(customer.traits) };
  }
  if (measure.kind === "daysSince") return compileDaysSince(measure, reading, context);
  const scope = compileScope(measure, context);
  const { nextChange, ...compiled } = compileScoped(measure, { scope, reading, context });
  // Without a window nothing leaves.
  return scope.within === Infinity ? compiled : { ...compiled, nextChange };
}

function compileScoped<V>(measure: Of<"count" | "aggregate" | "distinct" | "latest">, place: Place<V>) {
  if (measure.kind === "count") return compileCount(measure.of, place);
  if (measure.kind === "distinct") return compileDistinct(measure, place);
  if (measure.kind === "latest") return compileLatestNumber(measure, place);
  return compileExtreme(measure, place);
}

const DAY = 86_400_000;

/** Whole days since the first occurrence ever, or since the last one that counts. */
function compileDaysSince<V>(
  { which, of }: Of<"daysSince">,
  reading: Reading<V>,
  context: ConditionContext,
): CompiledMeasure {
  const sinceOf = which === "first" ? compileFirst(of, context) : compileLast(of, context);
  const value = (customer: OpenCustomer): number | undefined => {
    const instant = sinceOf(customer);
    return instant === -Infinity ? undefined : Math.floor((customer.clock - instant) / DAY);
  };
  const limits = reading.limits.flatMap((limit) => [Math.ceil(limit), Math.floor(limit) + 1]).sort((a, b) => a - b);
  return {
    value,
    nextChange: (customer) => {
      const days = value(customer);
      if (days === undefined) return Infinity;
      const current = reading.of(days);
      const instant = sinceOf(customer);
      // If the reading is the same tomorrow, it can change only at a limit.
      if (reading.of(days + 1) !== current) return instant + (days + 1) * DAY;
      const next = limits.find((limit) => limit > days && reading.of(limit) !== current);
      return next === undefined ? Infinity : instant + next * DAY;
    },
  };
}

/** The instant of the first occurrence ever. */
function compileFirst(of: EventSelector, context: ConditionContext): (customer: OpenCustomer) => number {
  const scope = { within: Infinity, boundary: undefined };
  const selection = selectionOf<true>(of, () => true, context);
  const first = addAggregate(context, "first", keyOf("first", of, ""), scope, [of.event], (memory) => {
    return new FirstAggregate(selection, memory);
  });
  return (customer) => first.of(customer).occurredAt;
}

/** The instant of the last occurrence that counts. */
function compileLast(of: EventSelector, context: ConditionContext): (customer: OpenCustomer) => number {
  const { index } = addStream(context, of, 1);
  const { boundary } = context;
  return (customer) => {
    const { occurredAt, seq } = customer.streams[index]!;
    const at = occurredAt.length - 1;
    if (at < 0 || (boundary !== undefined && !counts(boundary(customer), occurredAt[at]!, seq[at]!))) return -Infinity;
    return occurredAt[at]!;
  };
}

/**
 * The sum of a number property, or without a property of a one for each occurrence.
 *
 * @param stream for a large count: the stream that stored its occurrences in a former layout
 */
export function addSum(
  of: EventSelector,
  property: string | null,
  scope: CompiledScope,
  context: ConditionContext,
  stream: number | null = null,
) {
  const read = property === null ? () => 1 : numberReader(property);
  const selection = { ...selectionOf(of, read, context), ...scope };
  const kind = stream === null ? "ones" : "count";
  const key = property === null ? keyOf(kind, of, "") : keyOf("sum", of, property);
  const open = (memory: SumMemory | undefined): SumAggregate => new SumAggregate(selection, memory);
  const fromStream: FromStream | null =
    stream === null ? null : (streams, clock) => unread(streams[stream]!, scope, clock);
  return { ...addAggregate(context, "sum", key, scope, [of.event], open, fromStream), selection };
}

function compileExtreme<V>(measure: Of<"aggregate">, { scope, reading, context }: Place<V>): CompiledMeasure {
  const { of, property, function: kind } = measure;
  const sign = kind === "max" ? 1 : -1;
  // Avoid a negative zero: -1 * 0 is -0, which is written as 0 but differs for Object.is.
  const signed = (value: number | undefined): number | undefined =>
    value === undefined ? undefined : sign * value + 0;
  const number = numberReader(property);
  const selection = { ...selectionOf(of, (properties) => signed(number(properties)), context), ...scope };
  const extremes = addAggregate(context, "extreme", keyOf(kind, of, property), scope, [of.event], (memory) => {
    return new ExtremeAggregate(selection, memory);
  });
  const read = (greatest: number | undefined): V => reading.of(signed(greatest));
  const limits = reading.limits.map((limit) => sign * limit);
  return {
    value: (customer) => signed(extremes.of(customer).read(customer)),
    nextChange: (customer) => extremes.of(customer).nextChange(customer, read, limits),
  };
}

function compileDistinct<V>(measure: Of<"distinct">, { scope, reading, context }: Place<V>): CompiledMeasure {
  const { of, property } = measure;
  const field = context.registry.field(of.event, property);
  const selection = selectionOf(of, distinctReader(property, field), context);
  const key = keyOf("distinct", of, property);
  const distinct = addAggregate(context, "distinct", key, scope, [of.event], (memory, made) => {
    return new DistinctAggregate(selection, made, memory);
  });
  const { scoped } = distinct;
  scoped.capacity = Math.max(scoped.capacity, capacityFor(reading));
  scoped.aggregate.capacity = Math.max(scoped.aggregate.capacity, scoped.capacity);
  const reader = {
    ...scope,
    // A getter, since conditions of this scope that are compiled later may need more.
    get capacity() {
      return scoped.capacity;
    },
  };
  const value = (customer: OpenCustomer): number => distinct.of(customer).read(customer, reader);
  return {
    value,
    lastOf: (customer, event) => distinct.of(customer).lastOf(event),
    isBounded: (customer) => value(customer) >= scoped.capacity,
    nextChange: (customer) => distinct.of(customer).nextChange(customer, reader, reading.of, reading.limits),
  };
}

function compileLatestNumber<V>(measure: Of<"latest">, { scope, reading, context }: Place<V>): CompiledMeasure {
  const { of, property } = measure;
  const selection = selectionOf<Json>(of, numberReader(property), context);
  const key = keyOf("latest number", of, property);
  const latest = addAggregate(context, "latest", key, scope, [of.event], (memory) => {
    return new LatestAggregate(selection, memory);
  });
  const value = (customer: OpenCustomer) => latest.of(customer).read(customer, scope) as number | undefined;
  return {
    value,
    // When the latest value leaves the window, none is left.
    nextChange: (customer) =>
      reading.of(value(customer)) === reading.of(undefined) ? Infinity : latest.of(customer).leavesAt(customer, scope),
  };
}

/** Longer texts are compared by their hash, so that memory stays small. */
export const DISTINCT_TEXT_MAX = 64;

function distinctReader(property: string, field: Field | undefined): OccurrenceSelection<DistinctValue>["read"] {
  const read = memberReader(property);
  if (field?.type === "date") return (properties) => parseInstant(read(properties));
  return (properties) => {
    const value = read(properties);
    if (!isOfType(field, value)) return undefined;
    if (typeof value === "string") return distinctText(value);
    return typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value)) ? value : undefined;
  };
}

/** A text, or its hash if it is long. The hash is longer than any text stored as is, so the two cannot collide. */
export function distinctText(text: string): string {
  return text.length <= DISTINCT_TEXT_MAX ? text : `sha256:${digest(text).toString("hex")}`;
}
