import Type, { type Static, type TObjectOptions, type TProperties, type TSchema, type TUnsafe } from "typebox";
import { ROLES } from "../../db/api/access.js";

/** Schemas that many requests and answers share. Objects are exact: other members are not allowed, and all must be present. */

/** A member under a former name, which stays for existing clients. */
export function formerly<Schema extends TSchema>(schema: Schema, name: string): Schema {
  return { ...schema, deprecated: true, description: `The former name of \`${name}\`.` };
}

/** An instant in the format of `svc.iso`. */
export const instant = Type.String({
  format: "date-time",
  pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$",
  description: "An instant: ISO 8601 in UTC with milliseconds.",
  examples: ["2026-03-02T10:00:00.000Z"],
});

export const environment = Type.Enum(["test", "live"], { description: "An environment." });

export const role = Type.Enum([...ROLES], {
  description: "The role of a member, which determines what the member may do.",
});

/** The name of a version. */
export const versionName = Type.String({
  pattern: "^v[1-9]\\d*$",
  description: "A configuration version.",
  examples: ["v3"],
});

/** A flag of a record of a customer. */
export const superseded = Type.Boolean({
  description: "Whether a recompute has replaced the history that this belongs to.",
});

export const count = Type.Integer({ minimum: 0 });

/** A count with a description. */
export const countOf = (description: string) => Type.Integer({ minimum: 0, description });

/** A text with a description and examples. */
export const describedText = (description: string, ...examples: string[]) =>
  Type.String({ description, ...(examples.length === 0 ? {} : { examples }) });

/** An object with arbitrary names and values of one schema. TypeBox does not infer their type. */
export const mapOf = <Value extends TSchema>(value: Value, description?: string) =>
  Type.Object({}, { additionalProperties: value, ...(description && { description }) }) as unknown as TUnsafe<
    Record<string, Static<Value>>
  >;

/** Any JSON object. */
export const jsonObject = (description: string) => mapOf(Type.Unknown(), description);

export const orNull = <Schema extends TSchema>(schema: Schema, description?: string) =>
  Type.Union([schema, Type.Null()], description ? { description } : {});

/** An object with exactly these members. */
export const exact = <Properties extends TProperties>(properties: Properties, options: TObjectOptions = {}) =>
  Type.Object(properties, { ...options, additionalProperties: false });

/** As `exact`. The title names the schema in the OpenAPI document and begins with a capital letter; a description may follow it. */
export function named<Properties extends TProperties>(
  title: string,
  ...rest: [properties: Properties] | [description: string, properties: Properties]
) {
  const [description, properties] = rest.length === 2 ? rest : [undefined, ...rest];
  return exact(properties, { title, ...(description === undefined ? {} : { description }) });
}

/** A page of a list. With rare matches or large items it can be short or even empty although nextCursor leads to more. */
export const listOf = <Item extends TSchema, More extends TProperties>(item: Item, more = {} as More) =>
  exact({
    ...more,
    data: Type.Array(item),
    nextCursor: orNull(Type.String(), "Pass it as `cursor` for the next page; null on the last one."),
  });
