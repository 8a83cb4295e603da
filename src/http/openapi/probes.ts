import Type from "typebox";
import { exact } from "../admin/schemas-common.js";
import { REQUEST_ID, type Schemas } from "./parameters.js";
import { ANY, headers, merge, type RefusalResponses } from "./refusals.js";
import type { Endpoint } from "./types.js";

const PROBES = [
  { path: "/livez", operationId: "livez", summary: "Whether the process is alive", canFail: false },
  { path: "/startupz", operationId: "startupz", summary: "Whether startup has completed", canFail: true },
  { path: "/readyz", operationId: "readyz", summary: "Whether the process is ready for traffic", canFail: true },
  { path: "/health", operationId: "health", summary: "The same as `/readyz`, under an older name", canFail: true },
];

const healthy = exact({ status: Type.Literal("ok") });

/** The health probes (src/http/probes.ts). */
export function probeEndpoints(schemas: Schemas, refusals: RefusalResponses): Endpoint[] {
  return PROBES.map(({ path, operationId, summary, canFail }) => ({
    method: "get",
    path,
    operation: {
      operationId,
      summary,
      tags: ["Service"],
      security: [],
      parameters: [REQUEST_ID],
      responses: {
        200: {
          description: "Yes.",
          headers: headers("X-Request-ID"),
          content: { "application/json": { schema: schemas.add(healthy) } },
        },
        ...refusals.of(canFail ? merge(ANY, { 503: ["SERVICE_UNAVAILABLE"] }) : ANY),
      },
    },
  }));
}

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
