import { LIMITS } from "../../model/snapshot/limits.js";
import type { CalculatedMeasure, Measure } from "../../model/snapshot/types.js";
import { measureText } from "../../model/snapshot/words.js";
import { type CompiledScope, numberReader, select } from "../aggregates/scope.js";
import type { SumAggregate } from "../aggregates/sum.js";
import {
  addStream,
  type CompiledMeasure,
  type ConditionContext,
  compileScope,
  type OperandValue,
  selectionOf,
  shownMeasure,
} from "../compile-context.js";
import { earliest, NEVER } from "../conditions/leaf.js";
import { DecimalSum, POWERS, unitsOf } from "../decimal.js";
import type { NextChange, OpenCustomer } from "../open-customer.js";
import { counts } from "../state/boundary.js";
import { boundaryAnchor, type MoveDirection, type WindowedNumber } from "./change-search.js";
import { type Addend, isUnmoved, type Quotient, UNMOVED } from "./margins.js";
import { addSum, compileSimpleMeasure, distinctText } from "./measures.js";

type Of<K extends Measure["kind"]> = Extract<Measure, { kind: K }>;

/** A number that others are computed from; exact if it is a sum or a difference. */
export interface Operand extends Addend, Omit<WindowedNumber, "value" | "aggregates" | "quotient" | "isGone"> {
  /** Set if events change it other than by adding to it. */
  quotient?: Quotient;
  isGone?: WindowedNumber["isGone"];
  /** Whether it is at least zero, now and at every later instant if no event comes. */
  isNonNegative: (customer: OpenCustomer) => boolean;
  explain: (customer: OpenCustomer) => OperandValue;
}

/** Explains a number: its text, its value and its operands. */
function explained(measure: Measure, exact: Operand["exact"], operands: readonly Operand[] = []): Operand["explain"] {
  const text = measureText(measure);
  return (customer) => ({
    text,
    actual: toNumber(exact(customer)) ?? null,
    ...(operands.length > 0 && { operands: operands.map((one) => one.explain(customer)) }),
  });
}

export function toNumber(exact: ReturnType<Operand["exact"]>): number | undefined {
  return typeof exact === "object" ? exact.toNumber() : exact;
}

/** Compiles a measure that others are computed from. Its source is the measure itself. */
export function compileOperand(measure: Measure, model: ConditionContext): Operand {
  const context = { ...model, source: measure };
  switch (measure.kind) {
    case "ratio":
    case "difference":
      return compileCalculation(measure, context);
    case "trait": {
      const read = numberReader(measure.trait);
      return unmoving(measure, ({ traits }) => read(traits));
    }
    case "count":
      return compileCountOperand(measure, context, false);
    case "aggregate":
      if (measure.function === "sum" || measure.function === "avg") {
        return compileSum(measure, compileScope(measure, context), context);
      }
      return compileOther(measure, context);
    default:
      return compileOther(measure, context);
  }
}

/** @param isLarge whether it is a count by itself that is compared with a large number: a former layout stored its occurrences in a stream */
export function compileCountOperand(measure: Of<"count">, context: ConditionContext, isLarge: boolean): Operand {
  const scope = compileScope(measure, context);
  const isScoped = scope.within !== Infinity || scope.boundary !== undefined;
  if (isScoped && !isLarge) return compileSum(measure, scope, context);
  const { index } = addStream(context, measure.of, 0);
  if (isScoped) return compileSum(measure, scope, context, index);
  return unmoving(measure, (customer) => customer.streams[index]!.count);
}

/** An operand that time alone does not change. */
function unmoving(measure: Measure, exact: Operand["exact"]): Operand {
  return {
    exact,
    nextInstant: NEVER,
    anchors: [
      (customer) => {
        const value = exact(customer) ?? null;
        if (typeof value === "number" || value === null) return value;
        const { units, scale } = value.toMemory();
        return distinctText(`${units}e-${scale}`);
      },
    ],
    shift: () => UNMOVED,
    drift: () => 0,
    isNonNegative: (customer) => (toNumber(exact(customer)) ?? 0) >= 0,
    explain: explained(measure, exact),
  };
}

/** The sums whose difference is that of the previous window; or the current window alone. */
interface Sums {
  longer: SumAggregate;
  /** To be subtracted; null for the current window. */
  shorter: SumAggregate | null;
}

/**
 * A sum, an average, or a count as a sum of ones.
 *
 * @param stream for a large count: the stream that stored its occurrences in a former layout
 */
function compileSum(
  measure: Of<"count" | "aggregate">,
  scope: CompiledScope,
  context: ConditionContext,
  stream: number | null = null,
): Operand {
  const { of, previous } = measure;
  const { within, boundary } = scope;
  const property = measure.kind === "count" ? null : measure.property;
  const isAverage = measure.kind === "aggregate" && measure.function === "avg";
  const longer = addSum(of, property, previous ? { within: 2 * within, boundary } : scope, context, stream);
  const shorter = previous ? addSum(of, property, scope, context) : null;
  const sumsOf = (customer: OpenCustomer): Sums => {
    return { longer: longer.of(customer), shorter: shorter && shorter.of(customer) };
  };
  const read = (customer: OpenCustomer): { sum: DecimalSum; count: number } => {
    const sums = sumsOf(customer);
    const { sum, count } = sums.longer.read(customer);
    if (sums.shorter === null) return { sum, count };
    const current = sums.shorter.read(customer);
    const previousSum = sum.clone();
    previousSum.subtractSum(current.sum);
    return { sum: previousSum, count: count - current.count };
  };
  const { selection } = longer;
  const shiftOf =
    (amount: (value: number) => number): Addend["shift"] =>
    (customer, event, until, decimals) => {
      const value = event.event === of.event ? select(selection, event) : undefined;
      if (value === undefined) return UNMOVED;
      const { occurredAt, seq } = event;
      if (boundary !== undefined && !counts(boundary(customer), occurredAt, seq)) return UNMOVED;
      // It enters the previous window when it leaves the current one.
      const from = previous ? occurredAt + within : occurredAt;
      const now = Math.max(customer.clock, occurredAt);
      if (from > until || from + within <= now) return UNMOVED;
      const units = unitsOf(amount(value), decimals);
      if (units === null) return null;
      const isThroughout = from <= now && from + within > until;
      return isThroughout ? [units, units] : [Math.min(0, units), Math.max(0, units)];
    };
  const sum: Addend = { exact: (customer) => read(customer).sum, shift: shiftOf((value) => value) };
  const count: Addend = { exact: (customer) => read(customer).count, shift: shiftOf(() => 1) };
  const average: Addend & Pick<Operand, "quotient" | "isGone"> = {
    exact(customer) {
      const of = read(customer);
      return of.count === 0 ? undefined : of.sum.average(of.count);
    },
    shift: unlessUnmoved(count),
    quotient: { dividend: sum, divisor: count, isRoundedOnce: true },
    isGone: (customer) => !previous && read(customer).count === 0,
  };
  const addend = isAverage ? average : sum;
  if (within === Infinity) return unmoving(measure, addend.exact);

  return {
    ...addend,
    nextInstant(customer) {
      const sums = sumsOf(customer);
      return Math.min(sums.longer.nextLeave(customer), sums.shorter?.nextLeave(customer) ?? Infinity);
    },
    anchors: boundary === undefined ? [] : [boundaryAnchor(boundary)],
    drift(customer) {
      if (previous || isAverage) return null;
      const { isNonNegative, isNonPositive } = longer.of(customer);
      if (isNonNegative) return isNonPositive ? 0 : -1;
      return isNonPositive ? 1 : null;
    },
    isNonNegative: (customer) => sumsOf(customer).longer.isNonNegative,
    explain: explained(measure, addend.exact),
  };
}

/** The shift of a number that is not a sum: known only if the event moves none of its parts. */
function unlessUnmoved(...parts: Addend[]): Addend["shift"] {
  return (...event) => (parts.every((part) => isUnmoved(part.shift(...event))) ? UNMOVED : null);
}

/** Any other operand: the number of distinct values up to a limit, a least, greatest or latest value. */
function compileOther(measure: Exclude<Measure, CalculatedMeasure>, context: ConditionContext): Operand {
  if (measure.kind === "trait" || measure.kind === "daysSince") throw new Error(`no operand: ${measure.kind}`);
  const reading = { of: (value: number | undefined) => value, limits: [LIMITS.distinctOperand - 1] };
  const compiled: CompiledMeasure = compileSimpleMeasure(measure, reading, context);
  const { value, nextChange, lastOf, isBounded } = compiled;
  const isDistinct = measure.kind === "distinct";
  const text = measureText(measure);
  const explain = (customer: OpenCustomer): OperandValue => ({ text, actual: shownMeasure(compiled, customer) });
  if (nextChange === undefined) return { ...unmoving(measure, value), explain };
  const { within, boundary } = compileScope(measure, context);
  const { event, where } = selectionOf(measure.of, () => true, context);
  return {
    exact: value,
    nextInstant: nextChange,
    anchors: boundary === undefined ? [] : [boundaryAnchor(boundary)],
    shift(customer, one, until, decimals) {
      if (one.event !== event || (where !== null && !where(one.properties))) return UNMOVED;
      if (!isDistinct) return null;
      const unit = POWERS[decimals]!;
      const last = boundary === undefined && !isBounded!(customer) ? lastOf!(customer, one) : undefined;
      if (last === undefined) return [0, unit];
      // A value counts until the latest of its occurrences leaves the window.
      if (one.occurredAt <= last || last + within > until) return UNMOVED;
      const isNew = last + within <= Math.max(customer.clock, one.occurredAt);
      return isNew && one.occurredAt + within > until ? [unit, unit] : [0, unit];
    },
    drift: () => (isDistinct ? -1 : null),
    isNonNegative: () => isDistinct,
    explain,
  };
}

function compileCalculation(measure: CalculatedMeasure, context: ConditionContext): Operand {
  const of = compileOperand(measure.of, context);
  const other = compileOperand(measure.kind === "ratio" ? measure.per : measure.minus, context);
  const calculation = measure.kind === "ratio" ? ratioOf(of, other) : differenceOf(of, other);
  return {
    ...calculation,
    nextInstant: bothOf(of.nextInstant, other.nextInstant),
    anchors: [...of.anchors, ...other.anchors],
    explain: explained(measure, calculation.exact, [of, other]),
  };
}

function bothOf(one: NextChange, other: NextChange): NextChange {
  return earliest([{ nextChange: one }, { nextChange: other }]);
}

type Calculation = Pick<Operand, "exact" | "shift" | "quotient" | "isGone" | "drift" | "isNonNegative">;

function ratioOf(of: Operand, per: Operand): Calculation {
  return {
    exact(customer) {
      const dividend = toNumber(of.exact(customer));
      const divisor = toNumber(per.exact(customer));
      if (dividend === undefined || divisor === undefined || divisor === 0) return undefined;
      // JSON has no infinity; adding 0 avoids a negative zero.
      return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, dividend / divisor)) + 0;
    },
    shift: unlessUnmoved(of, per),
    quotient: { dividend: of, divisor: per, isRoundedOnce: false },
    isGone(customer) {
      const drift = per.drift(customer);
      return drift !== null && drift <= 0 && per.isNonNegative(customer) && toNumber(per.exact(customer)) === 0;
    },
    drift(customer) {
      return per.drift(customer) === 0 && per.isNonNegative(customer) ? of.drift(customer) : null;
    },
    isNonNegative: (customer) => of.isNonNegative(customer) && per.isNonNegative(customer),
  };
}

function differenceOf(of: Operand, minus: Operand): Calculation {
  return {
    exact(customer) {
      const [value, other] = [of.exact(customer), minus.exact(customer)];
      if (value === undefined || other === undefined) return undefined;
      const difference = decimal(value);
      difference.subtractSum(typeof other === "object" ? other : decimal(other));
      return difference;
    },
    shift(...event) {
      const [one, other] = [of.shift(...event), minus.shift(...event)];
      return one && other && [one[0] - other[1], one[1] - other[0]];
    },
    drift: (customer) => driftOfDifference(of.drift(customer), minus.drift(customer)),
    isNonNegative: () => false,
  };
}

/** The drift of a difference, from those of its operands. */
function driftOfDifference(of: MoveDirection, minus: MoveDirection): MoveDirection {
  if (of === null || minus === null) return null;
  if (of !== 0 && of === minus) return null;
  return Math.sign(of - minus) as MoveDirection;
}

/** A separate sum that may be changed. */
function decimal(value: DecimalSum | number): DecimalSum {
  if (typeof value === "object") return value.clone();
  const sum = new DecimalSum();
  sum.add(value);
  return sum;
}
