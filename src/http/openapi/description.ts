import Type from "typebox";
import { headers, ANY, type RefusalResponses } from "./refusals.js";
import { REQUEST_ID } from "./parameters.js";
import type { Schemas } from "./schemas.js";
import type { Endpoint } from "./types.js";

/** The document's own endpoint. */
export function descriptionEndpoint(schemas: Schemas, refusals: RefusalResponses): Endpoint {
  const schema = schemas.add(Type.Object({ openapi: Type.String() }, { description: "An OpenAPI 3.1 document." }));
  return {
    method: "get",
    path: "/openapi.json",
    operation: {
      operationId: "describeApi",
      summary: "This document",
      tags: ["Service"],
      security: [],
      parameters: [REQUEST_ID],
      responses: {
        200: {
          description: "The description of this version's API.",
          headers: headers("X-Request-ID"),
          content: { "application/json": { schema } },
        },
        ...refusals.of(ANY),
      },
    },
  };
}
