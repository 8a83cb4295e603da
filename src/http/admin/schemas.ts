import Type, { type Static, type TObjectOptions, type TProperties, type TSchema, type TUnsafe } from "typebox";
import { ROLES } from "../../db/api/access.js";

/** What many requests and answers have in common. Schemas are exact: no member that is not named, and none missing. */

/** A member by a former name, which stays for those who know it. */
export function formerly<Schema extends TSchema>(schema: Schema, name: string): Schema {
  return { ...schema, deprecated: true, description: `A former name of \`${name}\`.` };
}

/** An instant as `svc.iso` writes it. */
export const instant = Type.String({
  format: "date-time",
  pattern: "^\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}\\.\\d{3}Z$",
  description: "An instant: ISO 8601 in UTC with milliseconds.",
  examples: ["2026-03-02T10:00:00.000Z"],
});

export const environment = Type.Enum(["test", "live"], { description: "An environment." });

export const role = Type.Enum([...ROLES], { description: "What a member may do." });

/** A version's name. */
export const versionName = Type.String({
  pattern: "^v[1-9]\\d*$",
  description: "A configuration version.",
  examples: ["v3"],
});

/** Of a record of a customer. */
export const superseded = Type.Boolean({ description: "Whether a recompute has replaced the history that it is of." });

export const count = Type.Integer({ minimum: 0 });

/** A count of which more is to be said. */
export const countOf = (description: string) => Type.Integer({ minimum: 0, description });

/** A text of which more is to be said than that it is one. */
export const describedText = (description: string, ...examples: string[]) =>
  Type.String({ description, ...(examples.length === 0 ? {} : { examples }) });

/** An object that has such values by names that no schema knows. TypeBox tells nothing of them in its type. */
export const mapOf = <Value extends TSchema>(value: Value, description?: string) =>
  Type.Object({}, { additionalProperties: value, ...(description && { description }) }) as unknown as TUnsafe<
    Record<string, Static<Value>>
  >;

/** Any JSON object. */
export const jsonObject = (description: string) => mapOf(Type.Unknown(), description);

export const orNull = <Schema extends TSchema>(schema: Schema, description?: string) =>
  Type.Union([schema, Type.Null()], description ? { description } : {});

/** An object with these members, all of them there, and no other. */
export const exact = <Properties extends TProperties>(properties: Properties, options: TObjectOptions = {}) =>
  Type.Object(properties, { ...options, additionalProperties: false });

/** As `exact`; the title, a capital letter first, names the schema in the OpenAPI document. A description may stand after it. */
export function named<Properties extends TProperties>(
  title: string,
  ...rest: [properties: Properties] | [description: string, properties: Properties]
) {
  const [description, properties] = rest.length === 2 ? rest : [undefined, ...rest];
  return exact(properties, { title, ...(description === undefined ? {} : { description }) });
}

/** A page of a list. One of rare filters or of large items may be short, even empty, and nextCursor go on all the same. */
export const listOf = <Item extends TSchema, More extends TProperties>(item: Item, more = {} as More) =>
  exact({
    ...more,
    data: Type.Array(item),
    nextCursor: orNull(Type.String(), "Pass it as `cursor` for the next page; null on the last one."),
  });
