import type { CompareOperator, Field, Scalar } from "../model/snapshot/types.js";
import type { AnyField, ArrayField, BooleanField, DateField, NumberField, StringField } from "./field.js";
import { comparisons, type Comparisons } from "./quantity.js";

/** The questions that every field allows. A comparison with an absent value is false. */
interface Presence<Result> {
  /** Whether there is a value. */
  exists(): Result;
  /** Whether there is no value. */
  missing(): Result;
}

/** `isNot` and `notIn` are the exact negations of `is` and `in`, so they hold if there is no value. */
interface Membership<Value, Result> extends Presence<Result> {
  is(value: Value): Result;
  isNot(value: Value): Result;
  in(...values: Value[]): Result;
  notIn(...values: Value[]): Result;
}

export interface TextOperand<Result> extends Membership<string, Result> {
  /** Whether the text contains this one, case-sensitively. */
  contains(part: string): Result;
}

export type ChoiceOperand<Value extends string, Result> = Membership<Value, Result>;

export interface NumberOperand<Result> extends Presence<Result>, Comparisons<Result> {
  in(...values: number[]): Result;
  notIn(...values: number[]): Result;
}

export interface BooleanOperand<Result> extends Presence<Result> {
  is(value: boolean): Result;
  isNot(value: boolean): Result;
}

/** Dates are compared as instants; a bare date is 00:00 UTC. */
export interface DateOperand<Result> extends Presence<Result> {
  before(date: string): Result;
  after(date: string): Result;
  onOrBefore(date: string): Result;
  onOrAfter(date: string): Result;
  is(date: string): Result;
  isNot(date: string): Result;
}

export interface ListOperand<Item, Result> extends Presence<Result> {
  /** Whether the list contains this item. */
  contains(item: Item): Result;
}

/** The questions that a field of this type allows. */
export type Operand<F extends AnyField, Result> =
  F extends StringField<infer Value>
    ? string extends Value
      ? TextOperand<Result>
      : ChoiceOperand<Value, Result>
    : F extends ArrayField<infer Item>
      ? ListOperand<ItemValue<Item>, Result>
      : F extends NumberField
        ? NumberOperand<Result>
        : F extends BooleanField
          ? BooleanOperand<Result>
          : F extends DateField
            ? DateOperand<Result>
            : never;

type ItemValue<Item> =
  Item extends StringField<infer Value>
    ? Value
    : Item extends NumberField
      ? number
      : Item extends BooleanField
        ? boolean
        : string;

/** How questions about a property, its latest value or a trait become conditions. */
export interface Questions<Result> {
  compare(operator: CompareOperator, value: Scalar | Scalar[]): Result;
  exists(): Result;
  missing(): Result;
}

/** The object behind the operand types: the methods that the field's type allows, and no others. */
export function operand<Result>(field: Field, ask: Questions<Result>): object {
  const presence = { exists: () => ask.exists(), missing: () => ask.missing() };
  const compare = (operator: CompareOperator) => (value: Scalar) => ask.compare(operator, value);
  const lists = {
    in: (...values: Scalar[]) => ask.compare("in", values),
    notIn: (...values: Scalar[]) => ask.compare("notIn", values),
  };
  const equality = { is: compare("eq"), isNot: compare("ne") };
  switch (field.type) {
    case "string":
      return { ...presence, ...equality, ...lists, ...(field.enum ? {} : { contains: compare("contains") }) };
    case "number":
      return { ...presence, ...lists, ...comparisons((operator, value) => ask.compare(operator, value)) };
    case "boolean":
      return { ...presence, ...equality };
    case "date":
      return {
        ...presence,
        ...equality,
        before: compare("lt"),
        after: compare("gt"),
        onOrBefore: compare("lte"),
        onOrAfter: compare("gte"),
      };
    case "array":
      return { ...presence, contains: compare("contains") };
  }
}
