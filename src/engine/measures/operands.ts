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
import { DecimalSum } from "../decimal.js";
import type { NextChange, OpenCustomer } from "../open-customer.js";
import { boundaryAnchor, type Direction, type Effect, type MovingNumber } from "./look-ahead.js";
import { addSum, compileSimpleMeasure, shortened } from "./measures.js";

type Of<K extends Measure["kind"]> = Extract<Measure, { kind: K }>;

/** A number that others are computed of. */
export interface Operand extends Omit<MovingNumber, "value" | "aggregates"> {
  /** Exact, where it is a sum or a difference; undefined where it is absent. */
  exact: (customer: OpenCustomer) => DecimalSum | number | undefined;
  /** Whether it is not below zero, nor would be at any later instant if nothing came. */
  isNonNegative: (customer: OpenCustomer) => boolean;
  explain: (customer: OpenCustomer) => OperandValue;
}

/** A number in words, and how much it is. */
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

/** Compiles a measure that others are computed of. Its source is the measure itself. */
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
    case "count": {
      const scope = compileScope(measure, context);
      if (scope.within !== Infinity || scope.boundary !== undefined) return compileSum(measure, scope, context);
      const { index } = addStream(context, measure.of, 0);
      return unmoving(measure, (customer) => customer.streams[index]!.count);
    }
    case "aggregate":
      if (measure.function === "sum" || measure.function === "avg") {
        return compileSum(measure, compileScope(measure, context), context);
      }
      return compileOther(measure, context);
    default:
      return compileOther(measure, context);
  }
}

/** One that time alone does not change. */
function unmoving(measure: Measure, exact: Operand["exact"]): Operand {
  return {
    exact,
    nextInstant: NEVER,
    anchors: [
      (customer) => {
        const value = exact(customer) ?? null;
        if (typeof value === "number" || value === null) return value;
        const { units, scale } = value.toMemory();
        return shortened(`${units}e-${scale}`);
      },
    ],
    effect: () => 0,
    drift: () => 0,
    isNonNegative: (customer) => (toNumber(exact(customer)) ?? 0) >= 0,
    explain: explained(measure, exact),
  };
}

/** What the two ends of a window before have between them, or the window itself. */
interface Sums {
  longer: SumAggregate;
  /** What is to be taken away: null for the window itself. */
  shorter: SumAggregate | null;
}

/** A count, as the sum of ones, a sum or an average. */
function compileSum(measure: Of<"count" | "aggregate">, scope: CompiledScope, context: ConditionContext): Operand {
  const { of, previous } = measure;
  const { within, boundary } = scope;
  const property = measure.kind === "count" ? null : measure.property;
  const isAverage = measure.kind === "aggregate" && measure.function === "avg";
  const longer = addSum(of, property, previous ? { within: 2 * within, boundary } : scope, context);
  const shorter = previous ? addSum(of, property, scope, context) : null;
  const sumsOf = (customer: OpenCustomer): Sums => {
    return { longer: longer.of(customer), shorter: shorter && shorter.of(customer) };
  };
  const exact: Operand["exact"] = (customer) => {
    const sums = sumsOf(customer);
    let { sum, count }: { sum: DecimalSum; count: number } = sums.longer.read(customer);
    if (sums.shorter !== null) {
      const present = sums.shorter.read(customer);
      sum = sum.clone();
      sum.subtractSum(present.sum);
      count -= present.count;
    }
    if (!isAverage) return sum;
    return count === 0 ? undefined : sum.average(count);
  };
  if (within === Infinity) return unmoving(measure, exact);

  const { selection } = longer;
  return {
    exact,
    nextInstant(customer) {
      const sums = sumsOf(customer);
      return Math.min(sums.longer.nextLeave(customer), sums.shorter?.nextLeave(customer) ?? Infinity);
    },
    anchors: boundary === undefined ? [] : [boundaryAnchor(boundary)],
    effect(_customer, event, until) {
      if (event.event !== of.event) return 0;
      const value = select(selection, event);
      // It comes into the window before when it leaves the window.
      if (value === undefined || (previous && event.occurredAt + within > until)) return 0;
      return isAverage ? { towards: value } : (Math.sign(value) as Direction);
    },
    drift(customer) {
      if (previous || isAverage) return null;
      const { isNonNegative, isNonPositive } = longer.of(customer);
      if (isNonNegative) return isNonPositive ? 0 : -1;
      return isNonPositive ? 1 : null;
    },
    isNonNegative: (customer) => sumsOf(customer).longer.isNonNegative,
    explain: explained(measure, exact),
  };
}

/** Anything else: different values up to a number, a least, greatest or latest value. */
function compileOther(measure: Exclude<Measure, CalculatedMeasure>, context: ConditionContext): Operand {
  if (measure.kind === "trait" || measure.kind === "daysSince") throw new Error(`no operand: ${measure.kind}`);
  const reading = { of: (value: number | undefined) => value, limits: [LIMITS.distinctOperand - 1] };
  const compiled: CompiledMeasure = compileSimpleMeasure(measure, reading, context);
  const { value, nextChange } = compiled;
  const isDistinct = measure.kind === "distinct";
  const text = measureText(measure);
  const explain = (customer: OpenCustomer): OperandValue => ({ text, actual: shownMeasure(compiled, customer) });
  if (nextChange === undefined) return { ...unmoving(measure, value), explain };
  const { boundary } = compileScope(measure, context);
  const { event, where } = selectionOf(measure.of, () => true, context);
  return {
    exact: value,
    nextInstant: nextChange,
    anchors: boundary === undefined ? [] : [boundaryAnchor(boundary)],
    effect(_customer, one) {
      if (one.event !== event || (where !== null && !where(one.properties))) return 0;
      return isDistinct ? 1 : null;
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

type Calculation = Pick<Operand, "exact" | "effect" | "drift" | "isNonNegative">;

function ratioOf(of: Operand, per: Operand): Calculation {
  return {
    exact(customer) {
      const dividend = toNumber(of.exact(customer));
      const divisor = toNumber(per.exact(customer));
      if (dividend === undefined || divisor === undefined || divisor === 0) return undefined;
      // JSON has no infinity, and zero has no sign here.
      return Math.max(-Number.MAX_VALUE, Math.min(Number.MAX_VALUE, dividend / divisor)) + 0;
    },
    effect(customer, ...rest) {
      const above = directionOf(of.effect(customer, ...rest));
      const below = directionOf(per.effect(customer, ...rest));
      if (above === null || below === null) return null;
      if (above === 0 && below === 0) return 0;
      if (!per.isNonNegative(customer)) return null;
      // Where the divisor was 0 the ratio was absent, and so it is.
      if (below === 0) return above;
      const [, , isPresent] = rest;
      return above === 0 && below > 0 && isPresent && of.isNonNegative(customer) ? -1 : null;
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
      const rest = decimal(value);
      rest.subtractSum(typeof other === "object" ? other : decimal(other));
      return rest;
    },
    effect(customer, ...rest) {
      return together(directionOf(of.effect(customer, ...rest)), directionOf(minus.effect(customer, ...rest)));
    },
    drift: (customer) => together(of.drift(customer), minus.drift(customer)),
    isNonNegative: () => false,
  };
}

/** An effect as far as it is up or down at all instants alike. */
function directionOf(effect: Effect): Direction {
  return typeof effect === "object" ? null : effect;
}

/** How a difference moves, where what it is the difference of moves like this. */
function together(of: Direction, minus: Direction): Direction {
  if (of === null || minus === null) return null;
  if (of !== 0 && of === minus) return null;
  return Math.sign(of - minus) as Direction;
}

/** A sum of its own, to be changed. */
function decimal(value: DecimalSum | number): DecimalSum {
  if (typeof value === "object") return value.clone();
  const sum = new DecimalSum();
  sum.add(value);
  return sum;
}
