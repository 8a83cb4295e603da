import type { Field as FieldNode, ScalarType } from "../model/snapshot/types.js";
import { ModelError, recordMistake } from "./mistakes.js";
import { NODE } from "./part.js";

/** The declared type of an event property or a trait. */
interface FieldOf<Node extends FieldNode> {
  readonly [NODE]: Node;
  /** The same field, but events may omit it. Traits are always optional. */
  optional(): this;
}

/** A text; with `Value`, only one of those texts. */
export interface StringField<Value extends string = string> extends FieldOf<StringNode> {
  readonly values?: readonly Value[];
}
export type NumberField = FieldOf<ScalarNode<"number">>;
export type BooleanField = FieldOf<ScalarNode<"boolean">>;
export type DateField = FieldOf<ScalarNode<"date">>;
/** A list of items of one scalar type. */
export interface ArrayField<Item extends ScalarField = ScalarField> extends FieldOf<ArrayNode> {
  readonly item?: Item;
}

type StringNode = Extract<FieldNode, { type: "string" }>;
type ArrayNode = Extract<FieldNode, { type: "array" }>;
interface ScalarNode<Type extends "number" | "boolean" | "date"> {
  type: Type;
  optional?: true;
}

export type ScalarField = StringField | NumberField | BooleanField | DateField;
export type AnyField = ScalarField | ArrayField;
export type Fields = Readonly<Record<string, AnyField>>;

/** Any text. */
export function string(): StringField {
  return field({ type: "string" });
}

/** A JSON number, whole or not, read as a double. */
export function number(): NumberField {
  return field({ type: "number" });
}

/** True or false. */
export function boolean(): BooleanField {
  return field({ type: "boolean" });
}

/** An ISO 8601 date ("2026-01-31", read as 00:00 UTC) or a date-time with a zone ("2026-01-31T09:30:00+01:00"). */
export function date(): DateField {
  return field({ type: "date" });
}

/** Exactly one of the listed texts: `oneOf("free", "pro")`. */
export function oneOf<const Value extends string>(...values: readonly Value[]): StringField<Value> {
  return field({ type: "string", enum: [...values] });
}

/** A list whose items all have the same type: `array(string())`, `array(oneOf("sso", "audit"))`. */
export function array<Item extends ScalarField>(item: Item): ArrayField<Item> {
  const declared: FieldNode | undefined = (item as AnyField | undefined)?.[NODE];
  const isScalar = declared !== undefined && declared.type !== "array";
  if (!isScalar)
    recordMistake(new ModelError("NOT_A_FIELD", "array(…) needs the type of its items, such as array(string())"));
  const { type, ...rest }: { type: ScalarType; enum?: string[] } = isScalar ? declared : { type: "string" };
  return field({ type: "array", items: rest.enum ? { type, enum: rest.enum } : { type } });
}

function field<Node extends FieldNode>(node: Node): FieldOf<Node> {
  return { [NODE]: node, optional: () => field({ ...node, optional: true }) };
}
