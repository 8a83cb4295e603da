import { isDeepStrictEqual } from "node:util";
import type { TObject, TSchema } from "typebox";
import type { JsonSchema, Parameter, Reference } from "./types.js";

const NAME = /^[A-Z][A-Za-z]*$/;
/** Keywords that hold values, not schemas. */
const VALUES = new Set(["const", "default", "enum", "examples"]);

/**
 * Collects the schemas that have a name (their `title`, a capital letter first), so that the document holds each once and refers to it.
 * Two schemas of one name must be the same.
 */
export class Schemas {
  readonly #byName = new Map<string, JsonSchema>();

  /** A schema for the document, with references to the named schemas in it. */
  add(schema: object): JsonSchema {
    // A TypeBox schema is JSON Schema but for members that JSON leaves out.
    return this.#refer(JSON.parse(JSON.stringify(schema))) as JsonSchema;
  }

  /** The named schemas in alphabetical order. */
  get components(): Readonly<Record<string, JsonSchema>> {
    return Object.fromEntries([...this.#byName].sort(([a], [b]) => (a < b ? -1 : 1)));
  }

  #refer(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((item) => this.#refer(item));
    if (typeof node !== "object" || node === null) return node;
    const copy = Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, VALUES.has(key) ? value : this.#refer(value)]),
    );
    const { title } = copy;
    if (typeof title !== "string" || !NAME.test(title)) return copy;
    const known = this.#byName.get(title);
    if (known !== undefined && !isDeepStrictEqual(known, copy)) throw new Error(`two schemas have the title ${title}`);
    this.#byName.set(title, copy);
    return { $ref: `#/components/schemas/${title}` };
  }
}

/** Of every request. */
export const REQUEST_ID: Reference = { $ref: "#/components/parameters/RequestId" };

/** What the parts of paths are, by the names that routes give them. */
const PATH_PARAMETERS: Readonly<Record<string, { description: string; example: string }>> = {
  project: { description: "Slug of the project.", example: "saas" },
  customerId: { description: "Id of the customer in the caller's system.", example: "globex" },
  journeyId: { description: "Id of the journey.", example: "onboarding" },
  segment: { description: "Id of the segment.", example: "power_users" },
  keyId: { description: "Id of the key, which is not the key.", example: "key_5f0c2a9e7b1d4c3a5f0c2a9e" },
  version: { description: "A version, or `latest` where it is only read.", example: "v3" },
  userId: { description: "Id of the user.", example: "usr_5f0c2a9e7b1d4c3a5f0c2a9e" },
  invitationId: { description: "Id of the invitation.", example: "inv_5f0c2a9e7b1d4c3a5f0c2a9e" },
  tokenId: { description: "Id of the token, which is not the token.", example: "tok_5f0c2a9e7b1d4c3a5f0c2a9e" },
  recompute: { description: "Id of the recompute or dry run.", example: "rec_5f0c2a9e7b1d4c3a5f0c" },
  preview: { description: "Id of the preview.", example: "prv_5f0c2a9e7b1d4c3a5f0c" },
  webhook: { description: "Id of the webhook.", example: "whk_5f0c2a9e7b1d4c3a5f0c" },
  delivery: { description: "Id of the delivery, which is that of its emission.", example: "emi_0000000000000400" },
  emission: { description: "Id of the emission.", example: "emi_0000000000000400" },
};

/** The parameters of a path as the router writes it. */
export function pathParameters(path: string): Parameter[] {
  return [...path.matchAll(/:(\w+)/g)].map(([, name]) => {
    const known = PATH_PARAMETERS[name!];
    if (known === undefined) throw new Error(`the path parameter ${name} of ${path} has no description`);
    const { description, example } = known;
    return { name: name!, in: "path", required: true, description, schema: { type: "string", examples: [example] } };
  });
}

/** The members of a query's schema; those with a default may be left out. */
export function queryParameters(query: TObject, schemas: Schemas): Parameter[] {
  const { required = [], properties } = query as { required?: readonly string[]; properties: TObject["properties"] };
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = schemas.add(property) as JsonSchema & { description?: string };
    return {
      name,
      in: "query",
      required: required.includes(name) && !("default" in schema),
      ...(description === undefined ? {} : { description }),
      schema,
    };
  });
}

/** The headers that a route reads. */
export function headerParameters(headers: Readonly<Record<string, TSchema>>, schemas: Schemas): Parameter[] {
  return Object.entries(headers).map(([name, header]) => {
    const { description, ...schema } = schemas.add(header) as JsonSchema & { description?: string };
    return { name, in: "header", required: false, ...(description === undefined ? {} : { description }), schema };
  });
}

/** `/projects/:project` as `/projects/{project}`. */
export function pathTemplate(path: string): string {
  return path.replace(/:(\w+)/g, "{$1}");
}
