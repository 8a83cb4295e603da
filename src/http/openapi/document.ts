import { setImmediate } from "node:timers/promises";
import Type from "typebox";
import { version } from "../version.js";
import { AdministrativeEndpoints, type Declaration } from "./administrative.js";
import { ingestionEndpoints } from "./ingestion.js";
import { oauthEndpoints } from "./oauth.js";
import { REQUEST_ID, Schemas } from "./parameters.js";
import { metricsEndpoint, probeEndpoints } from "./probes.js";
import { ANY, headers, RefusalResponses } from "./refusals.js";
import { tags } from "./tags.js";
import type { Endpoint, Header, OpenApiOperation, Parameter } from "./types.js";

/** The document's own endpoint. */
function descriptionEndpoint(schemas: Schemas, refusals: RefusalResponses): Endpoint {
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

const DESCRIPTION = `Product events and customer traits in; lifecycle, segments, health, journeys and signed webhooks out.

- **Ingestion** (\`/v1\`) is for backends and takes an API key of a project's environment.
- **Administration** (everything else with a lock) takes the access token of a person or a program, and the organization.

Every answer has the header \`X-Request-ID\`. Every refused request is answered with the schema \`Error\`; \`error.docs\` leads to what
its code means. Guides: \`/docs\`.`;

const REQUEST_ID_DESCRIPTION = "1 to 200 visible ASCII characters; comes back, and stands in the log of what failed.";

const COMPONENTS = {
  parameters: {
    RequestId: {
      name: "X-Request-ID",
      in: "header",
      required: false,
      description: REQUEST_ID_DESCRIPTION,
      schema: { type: "string", pattern: "^[!-~]{1,200}$" },
    } satisfies Parameter,
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
  } satisfies Record<string, Header>,
  securitySchemes: {
    apiKey: {
      type: "http",
      scheme: "bearer",
      description: "An API key: `svc_test_…` or `svc_live_…`. It selects project and environment.",
    },
    session: {
      type: "http",
      scheme: "bearer",
      description:
        "An access token: OAuth's device authorization makes one for a person, an owner creates others for programs.",
    },
    metrics: {
      type: "http",
      scheme: "bearer",
      description: "The operator's SVC_METRICS_TOKEN.",
    },
    organization: {
      type: "apiKey",
      in: "header",
      name: "X-Svc-Organization",
      description: "Id of the organization that is acted for, `org_…`. No secret.",
    },
  },
};

/** An OpenAPI 3.1 document. */
interface OpenApiDocument {
  openapi: string;
  info: object;
  servers: readonly { url: string }[];
  tags: readonly { name: string; description: string }[];
  paths: Record<string, Record<string, OpenApiOperation>>;
  components: Record<string, object>;
}

interface DocumentOptions {
  /** Where clients reach the service, without a slash at the end. */
  publicUrl: string;
  administrative: readonly Declaration[];
}

/**
 * Describes the whole API but for pages that people look at. The same for the same routes, byte by byte. It takes a tenth of a second, in which
 * others have their turn.
 */
export async function openApiDocument({ publicUrl, administrative }: DocumentOptions): Promise<OpenApiDocument> {
  const schemas = new Schemas();
  const refusals = new RefusalResponses(schemas);
  const administration = new AdministrativeEndpoints(schemas, refusals);
  const endpoints = [...ingestionEndpoints(schemas, refusals), ...oauthEndpoints(schemas, refusals)];
  for (const declaration of administrative) {
    await setImmediate();
    endpoints.push(administration.of(declaration));
  }
  endpoints.push(
    ...probeEndpoints(schemas, refusals),
    metricsEndpoint(schemas, refusals),
    descriptionEndpoint(schemas, refusals),
  );
  return {
    openapi: "3.1.0",
    info: { title: "svc", version, description: DESCRIPTION, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: publicUrl }],
    tags,
    paths: pathsOf(endpoints),
    components: { schemas: schemas.components, responses: refusals.components, ...COMPONENTS },
  };
}

function pathsOf(endpoints: readonly Endpoint[]): OpenApiDocument["paths"] {
  const paths: OpenApiDocument["paths"] = {};
  for (const { path, method, operation } of endpoints) (paths[path] ??= {})[method] = operation;
  return paths;
}
