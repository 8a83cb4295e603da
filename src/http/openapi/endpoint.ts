import { isDeepStrictEqual } from "node:util";
import type { TSchema } from "typebox";
import { errorEnvelope, meaningOf, REFUSAL_HEADERS, type Refusals } from "./refusals.js";

/** A JSON Schema of draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

interface Reference {
  $ref: string;
}

export interface RequestParameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description: string | undefined;
  schema: JsonSchema;
}

interface Response {
  description: string;
  headers: Readonly<Record<string, Reference>>;
  content: Readonly<Record<string, { schema: JsonSchema; example?: unknown }>> | undefined;
}

/** The content of a request or an answer; JSON by default. */
interface Content {
  schema: TSchema;
  type?: string | undefined;
  /** Whether it is also available as comma-separated values. */
  isList?: boolean;
  example?: unknown;
}

/** The description of an endpoint; JSON leaves out members that are undefined. */
interface EndpointText {
  method?: "get" | "post" | "patch" | "delete";
  /** As OpenAPI writes it: `/projects/{project}`. */
  path: string;
  operationId: string;
  summary: string;
  description?: string;
  tag: string;
  /** The security schemes, all of which are required; none by default. */
  security?: readonly string[];
  /** By default REQUEST_ID only. */
  parameters?: readonly (RequestParameter | Reference)[] | null;
  body?: (Content & { required?: boolean }) | undefined;
  /** Answers by status, with their headers other than X-Request-ID. */
  answers: Readonly<Record<number, Partial<Content> & { description: string; headers?: readonly string[] }>>;
  /** Refusals in the error envelope. */
  refusals?: Refusals;
}

/** The parameter of every request. */
export const REQUEST_ID: Reference = { $ref: "#/components/parameters/RequestId" };

const CSV_TEXT = {
  type: "string",
  description: "The whole list, or its first `limit` items: a header line, then a line for each item.",
};

const NAME = /^[A-Z][A-Za-z]*$/;
/** Keywords that hold values, not schemas. */
const VALUES = new Set(["const", "default", "enum", "examples"]);

/**
 * Describes endpoints for the OpenAPI document. Named schemas (whose `title` begins with a capital letter) and refusals with a single code become
 * components, so that the document contains each only once. Two schemas with the same name must be equal.
 */
export class Description {
  readonly #schemas = new Map<string, JsonSchema>();
  readonly #responses = new Map<string, Response>();

  /** The components that the endpoints refer to, in alphabetical order. */
  get components() {
    return { schemas: inOrder(this.#schemas), responses: inOrder(this.#responses) };
  }

  /** A schema for the document, with references to the named schemas in it. */
  schema(schema: object): JsonSchema {
    // Apart from members that JSON leaves out, a TypeBox schema is a JSON Schema.
    return this.#refer(JSON.parse(JSON.stringify(schema))) as JsonSchema;
  }

  /** Describes an endpoint; the method is GET by default. */
  endpoint(text: EndpointText) {
    const { method = "get", path, operationId, summary, description, tag, security = [], body, answers } = text;
    const { parameters = [REQUEST_ID], refusals = {} } = text;
    const responses = Object.entries(answers).map(([status, { description, headers: named = [], schema, ...more }]) => {
      const content = schema && this.#content({ schema, ...more });
      return [status, { description, headers: headers("X-Request-ID", ...named), content }] as const;
    });
    const refused = Object.entries(refusals).map(([status, codes]) => [status, this.#refusal(+status, codes)] as const);
    return {
      method,
      path,
      operation: {
        operationId,
        summary,
        description,
        tags: [tag],
        security: security.length === 0 ? [] : [Object.fromEntries(security.map((scheme) => [scheme, []]))],
        parameters: parameters ?? undefined,
        requestBody: body && { required: body.required ?? true, content: this.#content(body) },
        responses: { ...Object.fromEntries(responses), ...Object.fromEntries(refused) },
      },
    };
  }

  #content({ schema, type = "application/json", example, isList = false }: Content) {
    return { [type]: { schema: this.schema(schema), example }, ...(isList && { "text/csv": { schema: CSV_TEXT } }) };
  }

  #refer(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((item) => this.#refer(item));
    if (typeof node !== "object" || node === null) return node;
    const copy = Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, VALUES.has(key) ? value : this.#refer(value)]),
    );
    const { title } = copy;
    if (typeof title !== "string" || !NAME.test(title)) return copy;
    const known = this.#schemas.get(title);
    if (known !== undefined && !isDeepStrictEqual(known, copy)) throw new Error(`two schemas have the title ${title}`);
    this.#schemas.set(title, copy);
    return { $ref: `#/components/schemas/${title}` };
  }

  #refusal(status: number, codes: readonly string[]): Response | Reference {
    const response = {
      description: `${meaningOf(status)}: ${codes.map((code) => `\`${code}\``).join(", ")}.`,
      headers: headers("X-Request-ID", ...(REFUSAL_HEADERS[status] ?? [])),
      content: this.#content({ schema: errorEnvelope }),
    };
    const [code] = codes;
    if (code === undefined || codes.length > 1) return response;
    const name = code.toLowerCase().replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase());
    this.#responses.set(name, response);
    return { $ref: `#/components/responses/${name}` };
  }
}

/** An endpoint with its description. */
export type Endpoint = ReturnType<Description["endpoint"]>;

function inOrder<Value>(named: ReadonlyMap<string, Value>): Readonly<Record<string, Value>> {
  return Object.fromEntries([...named].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** References to header components. */
function headers(...names: readonly string[]): Record<string, Reference> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
