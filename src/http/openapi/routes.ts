import { setImmediate } from "node:timers/promises";
import type { Context } from "koa";
import Type from "typebox";
import { exact } from "../admin/schemas.js";
import type { Route } from "../route.js";
import { version } from "../version.js";
import { administrativeEndpoint, type Declaration, tags } from "./administrative.js";
import { Description, type Endpoint, REQUEST_ID, type RequestParameter } from "./endpoint.js";
import { ingestionEndpoints, trackingEndpoints } from "./ingestion.js";
import { oauthEndpoints } from "./oauth.js";
import { ANY, mergeRefusals } from "./refusals.js";

const EXCLUDE: RequestParameter = {
  name: "exclude",
  in: "query",
  required: false,
  description: "The name of a check that does not count, such as `worker`; may be repeated.",
  schema: { type: "string" },
};
const READINESS = { canFail: true, parameters: [REQUEST_ID, EXCLUDE] };
/** For infrastructure: the probes (src/http/probes.ts), the figures (src/http/metrics.ts), and the document itself. */
const PROBES = [
  { path: "/livez", operationId: "livez", summary: "Whether the process is alive", canFail: false },
  { path: "/startupz", operationId: "startupz", summary: "Whether startup has completed", canFail: true },
  { path: "/readyz", operationId: "readyz", summary: "Whether the process is ready for traffic", ...READINESS },
  { path: "/health", operationId: "health", summary: "The same as `/readyz`, under an older name", ...READINESS },
];
const healthy = exact({ status: Type.Literal("ok") });

function serviceEndpoints(to: Description): Endpoint[] {
  const probes = PROBES.map(({ canFail, ...probe }) => ({
    ...probe,
    answers: { 200: { description: "Yes.", schema: healthy } },
    refusals: canFail ? mergeRefusals(ANY, { 503: ["SERVICE_UNAVAILABLE"] }) : ANY,
  }));
  const figures = {
    path: "/metrics",
    operationId: "metrics",
    summary: "Figures of this process and of the installation",
    description: "For the operator's Prometheus. `/docs/operations/monitoring` says what each figure means.",
    security: ["metrics"],
    answers: {
      200: {
        description: "The figures now.",
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
  return [...probes, figures, document].map((words) => to.endpoint({ ...words, tag: "Service" }));
}

const DESCRIPTION = `Product events and customer traits in; lifecycle, segments, health, journeys and signed webhooks out.

- **Ingestion** (\`/v1\`) is for backends and takes an API key of a project's environment.
- **Administration** (everything else with a lock) takes the access token of a person or a program, and the organization.
  Paths and answers of it may change from one release to the next, as the changelog says; the command line \`svc\` is the interface that stays.

Every answer has the header \`X-Request-ID\`. Every refused request is answered with the schema \`Error\`; \`error.docs\` leads to what
its code means. Guides: \`/docs\`.`;

const COMPONENTS = {
  parameters: {
    RequestId: {
      name: "X-Request-ID",
      in: "header",
      required: false,
      description: "1 to 200 visible ASCII characters; comes back, and stands in the log of what failed.",
      schema: { type: "string", pattern: "^[!-~]{1,200}$" },
    },
  },
  headers: {
    "X-Request-ID": { description: "The request's, or a new one.", schema: { type: "string" } },
    "WWW-Authenticate": { description: "`Bearer`.", schema: { type: "string" } },
    "Retry-After": {
      description: "Seconds after which the request is worth another try.",
      schema: { type: "integer" },
    },
    "RateLimit-Limit": {
      description: "How many operations the key may send at once after a rest.",
      schema: { type: "integer" },
    },
    "RateLimit-Remaining": { description: "How many of them are left now.", schema: { type: "integer" } },
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
      description: "An API key as the user name, with no password, as Segment's SDKs send it.",
    },
    session: {
      type: "http",
      scheme: "bearer",
      description:
        "An access token: OAuth's device authorization makes one for a person, an owner creates others for programs.",
    },
    metrics: { type: "http", scheme: "bearer", description: "The operator's SVC_METRICS_TOKEN." },
    organization: {
      type: "apiKey",
      in: "header",
      name: "X-Svc-Organization",
      description: "Id of the organization that is acted for, `org_…`. No secret.",
    },
  },
};

/**
 * Describes the whole API but for pages that people look at. The same for the same routes, byte by byte. It takes a tenth of a second, in which
 * others have their turn.
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
    components: { ...description.components, ...COMPONENTS },
  };
}

/**
 * GET /openapi.json: the description of the API, for everybody. Built at the first request, because where clients reach the service is known only
 * once it listens. Of the routes the administrative ones are described.
 */
export function openApiRoutes({ publicUrl, routes }: { publicUrl: () => string; routes: readonly Route[] }): Route[] {
  const administrative = routes.flatMap(({ declaration }) => declaration ?? []);
  const build = async () => JSON.stringify(await openApiDocument(publicUrl(), administrative));
  let text: Promise<string> | undefined;
  const handle = async (ctx: Context) => {
    text ??= build();
    ctx.body = await text;
    ctx.set("Cache-Control", "public, max-age=300");
    ctx.type = "application/json";
  };
  return [{ method: "GET", path: "/openapi.json", handle }];
}
