import Type, { type Static, type TProperties, type TSchema, type TUnsafe } from "typebox";
import { ROLES } from "../../db/api/organization.js";

/** What many answers have in common. Schemas of answers are exact: no member that is not named, and none missing. */

/** An instant as `svc.iso` writes it. */
export const instant = Type.String({
  format: "date-time",
  pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$",
  description: "An instant: ISO 8601 in UTC with milliseconds.",
  examples: ["2026-03-02T10:00:00.000Z"],
});

export const environmentName = Type.Enum(["test", "live"], { description: "An environment." });

export const role = Type.Enum([...ROLES], {
  description: "What a member may do.",
});

/** A version's name. */
export const version = Type.String({
  pattern: "^v[1-9]\\d*$",
  description: "A configuration version.",
  examples: ["v3"],
});

export const count = Type.Integer({ minimum: 0 });

/** An object that has such values by names that no schema knows. TypeBox tells nothing of them in its type. */
export const mapOf = <Value extends TSchema>(value: Value, description?: string) =>
  Type.Object(
    {},
    { additionalProperties: value, ...(description === undefined ? {} : { description }) },
  ) as unknown as TUnsafe<Record<string, Static<Value>>>;

/** Any JSON object. */
export const jsonObject = (description: string) => mapOf(Type.Unknown(), description);

export const orNull = <Schema extends TSchema>(schema: Schema, description?: string) =>
  Type.Union([schema, Type.Null()], description === undefined ? {} : { description });

/** An object with these members, all of them there, and no other. */
export const exact = <Properties extends TProperties>(properties: Properties, options: ObjectOptions = {}) =>
  Type.Object(properties, { ...options, additionalProperties: false });

interface ObjectOptions {
  /** Names the schema in the OpenAPI document; a capital letter first. */
  title?: string;
  description?: string;
}

/** A page of a list. */
export const listOf = <Item extends TSchema>(item: Item, more: TProperties = {}) =>
  exact({
    ...more,
    data: Type.Array(item),
    nextCursor: orNull(Type.String(), "Pass it as `cursor` for the next page; null on the last one."),
  });
