import { setImmediate } from "node:timers/promises";
import type { Context } from "koa";
import Type from "typebox";
import { exact } from "../admin/schemas.js";
import type { Route } from "../route.js";
import { version } from "../version.js";
import { administrativeEndpoint, type Declaration, tags } from "./administrative-endpoint.js";
import { Description, type Endpoint, REQUEST_ID, type RequestParameter } from "./endpoint.js";
import { ingestionEndpoints, trackingEndpoints } from "./ingestion.js";
import { oauthEndpoints } from "./oauth.js";
import { ANY, mergeRefusals } from "./refusals.js";
import { WEBHOOKS } from "./webhooks.js";

const EXCLUDE: RequestParameter = {
  name: "exclude",
  in: "query",
  required: false,
  description: "The name of a check to ignore, such as `worker`; can be repeated.",
  schema: { type: "string" },
};
const READINESS = { canFail: true, parameters: [REQUEST_ID, EXCLUDE] };
/** The health probes (src/http/probes.ts). */
const PROBES = [
  { path: "/livez", operationId: "livez", summary: "Check whether the process is alive", canFail: false },
  { path: "/startupz", operationId: "startupz", summary: "Check whether startup has completed", canFail: true },
  { path: "/readyz", operationId: "readyz", summary: "Check whether the process is ready for traffic", ...READINESS },
  { path: "/health", operationId: "health", summary: "The same as `/readyz`, under an older name", ...READINESS },
];
const healthy = exact({ status: Type.Literal("ok") });

function serviceEndpoints(to: Description): Endpoint[] {
  const probes = PROBES.map(({ canFail, ...probe }) => ({
    ...probe,
    answers: { 200: { description: "Yes.", schema: healthy } },
    refusals: canFail ? mergeRefusals(ANY, { 503: ["SERVICE_UNAVAILABLE"] }) : ANY,
  }));
  const metrics = {
    path: "/metrics",
    operationId: "metrics",
    summary: "Metrics of this process and of the installation",
    description: "For the operator's Prometheus. `/docs/operations/monitoring` explains each metric.",
    security: ["metrics"],
    answers: {
      200: {
        description: "The current values.",
        schema: Type.String({ description: "Prometheus' text format 0.0.4." }),
        type: "text/plain",
      },
    },
    refusals: mergeRefusals(ANY, { 401: ["INVALID_METRICS_TOKEN"] }),
  };
  const document = {
    path: "/openapi.json",
    operationId: "describeApi",
    summary: "This document",
    answers: {
      200: {
        description: "The description of this version's API.",
        schema: Type.Object({ openapi: Type.String() }, { description: "An OpenAPI 3.1 document." }),
      },
    },
    refusals: ANY,
  };
  return [...probes, metrics, document].map((text) => to.endpoint({ ...text, tag: "Service" }));
}

const DESCRIPTION = `Product events and customer traits in; lifecycle, segments, health, journeys and signed webhooks out.

- **Ingestion** (\`/v1\`) is for backends and takes an API key of a project's environment.
- **Administration** (everything else with a lock) takes the access token of a person or a program, and the organization.
  Its paths and answers may change from one release to the next, as the changelog says; the stable interface is the command line \`svc\`.

Every answer has the header \`X-Request-ID\`. Every refused request is answered with the schema \`Error\`; \`error.docs\` links to the
meaning of its code. Guides: \`/docs\`.`;

const COMPONENTS = {
  parameters: {
    RequestId: {
      name: "X-Request-ID",
      in: "header",
      required: false,
      description: "1 to 200 visible ASCII characters. It is returned in the answer and written to the service's log.",
      schema: { type: "string", pattern: "^[!-~]{1,200}$" },
    },
  },
  headers: {
    "X-Request-ID": { description: "The id that the request has, or a new one.", schema: { type: "string" } },
    "WWW-Authenticate": { description: "`Bearer`.", schema: { type: "string" } },
    "Retry-After": {
      description: "Seconds to wait before sending the request again.",
      schema: { type: "integer" },
    },
    "RateLimit-Limit": {
      description: "Number of operations that the key may send at once when its allowance is full.",
      schema: { type: "integer" },
    },
    "RateLimit-Remaining": { description: "Number of operations left of it now.", schema: { type: "integer" } },
  },
  securitySchemes: {
    apiKey: {
      type: "http",
      scheme: "bearer",
      description: "An API key: `svc_test_…` or `svc_live_…`. It selects project and environment.",
    },
    writeKey: {
      type: "http",
      scheme: "basic",
      description:
        "An API key as the user name, with no password, as Segment's SDKs send it; without this header, as `writeKey` in the body, as those for Python do.",
    },
    session: {
      type: "http",
      scheme: "bearer",
      description:
        "An access token: a person gets one by OAuth's device authorization; an owner creates others for programs.",
    },
    metrics: { type: "http", scheme: "bearer", description: "The operator's SVC_METRICS_TOKEN." },
    organization: {
      type: "apiKey",
      in: "header",
      name: "X-Svc-Organization",
      description: "Id of the organization to act in, `org_…`. Not a secret.",
    },
  },
};

/**
 * Describes the whole API except pages for people. The same routes result in the same bytes. It takes a tenth of a second, and lets the event
 * loop run in between.
 */
async function openApiDocument(publicUrl: string, administrative: readonly Declaration[]): Promise<object> {
  const description = new Description();
  const endpoints = [
    ...ingestionEndpoints(description),
    ...trackingEndpoints(description),
    ...oauthEndpoints(description),
  ];
  for (const declaration of administrative) {
    await setImmediate();
    endpoints.push(administrativeEndpoint(description, declaration));
  }
  endpoints.push(...serviceEndpoints(description));
  const paths: Record<string, Record<string, Endpoint["operation"]>> = {};
  for (const { path, method, operation } of endpoints) (paths[path] ??= {})[method] = operation;
  return {
    openapi: "3.1.0",
    info: { title: "svc", version, description: DESCRIPTION, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: publicUrl }],
    tags,
    paths,
    webhooks: WEBHOOKS,
    components: { ...description.components, ...COMPONENTS },
  };
}

/**
 * GET /openapi.json: the description of the API, without authentication. Built at the first request, because the public URL is known only once
 * the service listens. Of `routes` it describes the administrative ones; the others have descriptions of their own.
 */
export function openApiRoutes({ publicUrl, routes }: { publicUrl: () => string; routes: readonly Route[] }): Route[] {
  const administrative = routes.flatMap(({ declaration }) => declaration ?? []);
  // As bytes, which all answers share: those that nobody reads would otherwise fill the memory.
  const build = async () => Buffer.from(JSON.stringify(await openApiDocument(publicUrl(), administrative)));
  let bytes: Promise<Buffer> | undefined;
  const handle = async (ctx: Context) => {
    bytes ??= build();
    ctx.body = await bytes;
    ctx.set("Cache-Control", "public, max-age=300");
    ctx.type = "application/json";
  };
  return [{ method: "GET", path: "/openapi.json", handle }];
}
