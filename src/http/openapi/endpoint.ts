import type { TSchema } from "typebox";
import { REQUEST_ID, type Reference, type RequestParameter, type Schemas } from "./parameters.js";
import { headers, type RefusalResponses, type Refusals } from "./refusals.js";

/** What is sent or answered; JSON unless a media type is given. */
interface Content {
  schema: TSchema;
  type?: string | undefined;
  example?: unknown;
}

/** What is to be said of an endpoint; what is undefined JSON leaves out. */
interface EndpointWords {
  method?: "get" | "post" | "patch" | "delete";
  /** As OpenAPI writes it: `/projects/{project}`. */
  path: string;
  operationId: string;
  summary: string;
  description?: string;
  tag: string;
  /** The security schemes that it takes, all of them; none unless given. */
  security?: readonly string[];
  /** That of every request unless given. */
  parameters?: readonly (RequestParameter | Reference)[] | null;
  body?: (Content & { required?: boolean }) | undefined;
  /** Answers by status, with their headers besides X-Request-ID. */
  answers: Readonly<Record<number, Partial<Content> & { description: string; headers?: readonly string[] }>>;
  /** Refusals that are answered with the error envelope. */
  refusals?: Refusals;
}

/** Describes an endpoint; one of the method GET unless another is given. */
export function endpointOf(words: EndpointWords, schemas: Schemas, refused: RefusalResponses) {
  const { method = "get", path, operationId, summary, description, tag, security = [], body, answers } = words;
  const { parameters = [REQUEST_ID], refusals = {} } = words;
  const contentOf = ({ schema, type = "application/json", example }: Content) => ({
    [type]: { schema: schemas.add(schema), example },
  });
  const responses = Object.entries(answers).map(([status, { description, headers: named = [], schema, ...more }]) => {
    const content = schema && contentOf({ schema, ...more });
    return [status, { description, headers: headers("X-Request-ID", ...named), content }] as const;
  });
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
      requestBody: body && { required: body.required ?? true, content: contentOf(body) },
      responses: { ...Object.fromEntries(responses), ...refused.of(refusals) },
    },
  };
}

/** An endpoint with its description. */
export type Endpoint = ReturnType<typeof endpointOf>;
