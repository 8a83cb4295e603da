import Type from "typebox";
import { jsonOf } from "../../words/text.js";
import { invalidField } from "../errors.js";
import { environmentQuery } from "./parameters.js";
import { adminRoute } from "./route.js";
import { exact, mapOf } from "./schemas.js";

const texts = (description: string) => Type.String({ minLength: 2, maxLength: 12_000, default: "[]", description });

/** The array of at most `itemsMax` texts that a parameter contains as JSON. Throws VALIDATION_ERROR. */
function textsOf(field: string, text: string, itemsMax: number): string[] {
  const value = jsonOf(text);
  const isList = Array.isArray(value) && value.length <= itemsMax && value.every((item) => typeof item === "string");
  if (isList) return value;
  const message = `\`${field}\` is not a JSON array of at most ${itemsMax} texts.`;
  throw invalidField(field, text, message, 'Write for example ["globex"], URL-encoded.');
}

/** Traits that lists of customers show. */
export const traitRoutes = [
  adminRoute("list_traits", "GET /projects/:project/traits", {
    summary: "Get the given traits of the given customers, as text",
    query: exact({
      ...environmentQuery.properties,
      customers: texts("Ids of customers: a JSON array of at most 200."),
      names: texts("Names of traits: a JSON array of at most 50."),
    }),
    answers: { 200: mapOf(mapOf(Type.String())) },
    passes: ({ at, query }) => [at, textsOf("customers", query.customers, 200), textsOf("names", query.names, 50)],
  }),
];
