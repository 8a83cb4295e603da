import Type from "typebox";
import { headers, ANY, merge, type RefusalResponses } from "./refusals.js";
import { REQUEST_ID } from "./parameters.js";
import type { Schemas } from "./schemas.js";
import type { Endpoint } from "./types.js";

/** GET /metrics (src/http/metrics.ts). */
export function metricsEndpoint(schemas: Schemas, refusals: RefusalResponses): Endpoint {
  const schema = schemas.add(Type.String({ description: "Prometheus' text format 0.0.4." }));
  return {
    method: "get",
    path: "/metrics",
    operation: {
      operationId: "metrics",
      summary: "Figures of this process and of the installation",
      description: "For the operator's Prometheus. `/docs/operations/monitoring` says what each figure means.",
      tags: ["Service"],
      security: [{ metrics: [] }],
      parameters: [REQUEST_ID],
      responses: {
        200: {
          description: "The figures now.",
          headers: headers("X-Request-ID"),
          content: { "text/plain": { schema } },
        },
        ...refusals.of(merge(ANY, { 401: ["INVALID_METRICS_TOKEN"] })),
      },
    },
  };
}
