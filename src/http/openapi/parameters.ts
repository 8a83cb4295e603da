import { isDeepStrictEqual } from "node:util";
import type { TSchema } from "typebox";

/** A JSON Schema of draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Reference {
  $ref: string;
}

export interface RequestParameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description: string | undefined;
  schema: JsonSchema;
}

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

/** What the parts of paths are, by the names that routes give them, for example what, and the refusal where there is none such. */
const PATH_PARAMETERS: Readonly<Record<string, readonly [description: string, example: string, code: string]>> = {
  project: ["Slug of the project.", "saas", "PROJECT_NOT_FOUND"],
  customerId: ["Id of the customer in the caller's system.", "globex", "CUSTOMER_NOT_FOUND"],
  journeyId: ["Id of the journey.", "onboarding", "JOURNEY_NOT_FOUND"],
  segment: ["Id of the segment.", "power_users", "SEGMENT_NOT_FOUND"],
  keyId: ["Id of the key, which is not the key.", "key_5f0c2a9e7b1d4c3a5f0c2a9e", "KEY_NOT_FOUND"],
  version: ["A version, or `latest` where it is only read.", "v3", "VERSION_NOT_FOUND"],
  userId: ["Id of the user.", "usr_5f0c2a9e7b1d4c3a5f0c2a9e", "MEMBER_NOT_FOUND"],
  invitationId: ["Id of the invitation.", "inv_5f0c2a9e7b1d4c3a5f0c2a9e", "INVITATION_NOT_FOUND"],
  tokenId: ["Id of the token, which is not the token.", "tok_5f0c2a9e7b1d4c3a5f0c2a9e", "TOKEN_NOT_FOUND"],
  recompute: ["Id of the recompute or dry run.", "rec_5f0c2a9e7b1d4c3a5f0c", "RECOMPUTE_NOT_FOUND"],
  preview: ["Id of the preview.", "prv_5f0c2a9e7b1d4c3a5f0c", "PREVIEW_NOT_FOUND"],
  webhook: ["Id of the webhook.", "whk_5f0c2a9e7b1d4c3a5f0c", "WEBHOOK_NOT_FOUND"],
  delivery: ["Id of the delivery, which is that of its emission.", "emi_0000000000000400", "DELIVERY_NOT_FOUND"],
  emission: ["Id of the emission.", "emi_0000000000000400", "EMISSION_NOT_FOUND"],
};

/** The parameters of a path as the router writes it, and the refusals where there is nothing of such a name. */
export function pathParameters(path: string): { parameters: RequestParameter[]; codes: string[] } {
  const known = [...path.matchAll(/:(\w+)/g)].map(([, name = ""]) => {
    const words = PATH_PARAMETERS[name];
    if (words === undefined) throw new Error(`the path parameter ${name} of ${path} has no description`);
    const [description, example, code] = words;
    const schema = { type: "string", examples: [example] };
    return { code, parameter: { name, in: "path" as const, required: true, description, schema } };
  });
  return { parameters: known.map(({ parameter }) => parameter), codes: known.map(({ code }) => code) };
}

/** The parameters that a query or a route's headers have by their schemas; those with a default may be left out. */
export function namedParameters(
  place: "query" | "header",
  { properties, required = [] }: { properties: Readonly<Record<string, TSchema>>; required?: readonly string[] },
  schemas: Schemas,
): RequestParameter[] {
  return Object.entries(properties).map(([name, property]) => {
    const { description, ...schema } = schemas.add(property) as JsonSchema & { description?: string };
    return { name, in: place, required: required.includes(name) && !("default" in schema), description, schema };
  });
}
