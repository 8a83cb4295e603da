/** The parts of an OpenAPI 3.1 document that ours has. */

/** A JSON Schema of draft 2020-12. */
export type JsonSchema = Readonly<Record<string, unknown>>;

export interface Parameter {
  name: string;
  in: "path" | "query" | "header";
  required: boolean;
  description?: string;
  schema: JsonSchema;
}

export interface MediaType {
  schema: JsonSchema;
  example?: unknown;
  examples?: Readonly<Record<string, { summary?: string; value: unknown }>>;
}

export interface Header {
  description: string;
  schema: JsonSchema;
}

export interface Response {
  description: string;
  headers?: Readonly<Record<string, Header | Reference>>;
  content?: Readonly<Record<string, MediaType>>;
}

export interface Reference {
  $ref: string;
}

export interface OpenApiOperation {
  operationId: string;
  summary: string;
  description?: string;
  tags: readonly string[];
  /** Which of the security schemes; none of them where it is empty. */
  security: readonly Readonly<Record<string, readonly string[]>>[];
  parameters?: readonly (Parameter | Reference)[];
  requestBody?: { required: boolean; content: Readonly<Record<string, MediaType>> };
  responses: Readonly<Record<string, Response | Reference>>;
}

export type Method = "get" | "post" | "put" | "patch" | "delete";

/** An endpoint with its description; paths as OpenAPI writes them: `/projects/{project}`. */
export interface Endpoint {
  method: Method;
  path: string;
  operation: OpenApiOperation;
}
