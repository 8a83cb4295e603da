import Type, { type TObject, type TSchema } from "typebox";
import { exact } from "../admin/schemas-common.js";
import { ANY, headers, type RefusalResponses } from "./refusals.js";
import type { Schemas } from "./parameters.js";
import type { Endpoint, Response } from "./types.js";

const clientId = Type.String({
  description: "The program that asks; the command line is `svc-cli`.",
  examples: ["svc-cli"],
});

const oauthError = exact(
  {
    error: Type.String({
      description: "One of the words that the RFCs register.",
      examples: ["authorization_pending"],
    }),
    error_description: Type.String(),
  },
  { title: "OAuthError", description: "A refusal in OAuth's own words (RFC 6749, section 5.2)." },
);

const authorization = exact(
  {
    device_code: Type.String(),
    user_code: Type.String({ examples: ["BCDF-GHJK"] }),
    verification_uri: Type.String({ format: "uri" }),
    verification_uri_complete: Type.String({ format: "uri" }),
    expires_in: Type.Integer({ description: "Seconds." }),
    interval: Type.Integer({ description: "Seconds between two requests of the client." }),
  },
  { title: "DeviceAuthorization" },
);

const token = exact(
  {
    access_token: Type.String({ description: "For the header Authorization; shown here and nowhere else, ever." }),
    token_type: Type.Literal("Bearer"),
    expires_in: Type.Integer({ description: "Seconds." }),
  },
  { title: "Token" },
);

const metadata = Type.Object(
  {
    issuer: Type.String({ format: "uri" }),
    token_endpoint: Type.String({ format: "uri" }),
    device_authorization_endpoint: Type.String({ format: "uri" }),
    revocation_endpoint: Type.String({ format: "uri" }),
  },
  { title: "AuthorizationServer", description: "Authorization server metadata (RFC 8414)." },
);

interface OAuthEndpoint {
  path: string;
  operationId: string;
  summary: string;
  description: string;
  /** What is sent as a form. */
  form?: TObject;
  /** Undefined where the answer is empty. */
  answer: TSchema | undefined;
  /** The statuses of refusals and what they stand for. */
  refusals: Readonly<Record<number, string>>;
}

const REFUSALS = {
  400: "The request is not valid: `invalid_request`, `invalid_client`.",
  401: "Credentials of a client were sent, and clients of this service have none: `invalid_client`.",
  413: "The form is too large: `invalid_request`.",
  500: "The service failed: `server_error`.",
  503: "The service cannot answer for the moment: `temporarily_unavailable`.",
};

const ENDPOINTS: readonly OAuthEndpoint[] = [
  {
    path: "/oauth/device_authorization",
    operationId: "authorizeDevice",
    summary: "Begin to sign in on a device (RFC 8628)",
    description:
      "Show `user_code` and `verification_uri` to the person, then ask the token endpoint every `interval` seconds.",
    form: exact({ client_id: clientId }),
    answer: authorization,
    refusals: { ...REFUSALS, 429: "Too many sign-ins were begun from this address: `temporarily_unavailable`." },
  },
  {
    path: "/oauth/token",
    operationId: "issueToken",
    summary: "Ask whether the person has decided, and get the access token (RFC 8628)",
    description: "A device code is good for one token.",
    form: exact({
      grant_type: Type.Literal("urn:ietf:params:oauth:grant-type:device_code"),
      device_code: Type.String(),
      client_id: clientId,
    }),
    answer: token,
    refusals: {
      ...REFUSALS,
      400:
        "No token (yet): `authorization_pending`, `slow_down` (ask five seconds less often), `access_denied`, `expired_token`, " +
        "`invalid_grant`; or the request is not valid: `invalid_request`, `invalid_client`, `unsupported_grant_type`.",
    },
  },
  {
    path: "/oauth/revoke",
    operationId: "revokeAccessToken",
    summary: "Revoke an access token (RFC 7009)",
    description: "Of a sign-in by this client. A token that is unknown is answered as one that was revoked.",
    form: exact({ token: Type.String(), token_type_hint: Type.Optional(Type.String()), client_id: clientId }),
    answer: undefined,
    refusals: REFUSALS,
  },
];

/** What signs people in from programs, by the standards (src/http/oauth). */
export function oauthEndpoints(schemas: Schemas, refusals: RefusalResponses): Endpoint[] {
  return [...ENDPOINTS.map((endpoint) => post(endpoint, schemas)), metadataEndpoint(schemas, refusals)];
}

function post(
  { path, operationId, summary, description, form, answer, refusals }: OAuthEndpoint,
  schemas: Schemas,
): Endpoint {
  return {
    method: "post",
    path,
    operation: {
      operationId,
      summary,
      description,
      tags: ["Sign-in"],
      security: [],
      ...(form && {
        requestBody: {
          required: true,
          content: { "application/x-www-form-urlencoded": { schema: schemas.add(form) } },
        },
      }),
      responses: {
        200: {
          description: "Done.",
          headers: headers("X-Request-ID"),
          ...(answer && { content: { "application/json": { schema: schemas.add(answer) } } }),
        },
        ...Object.fromEntries(Object.entries(refusals).map(([status, says]) => [status, refusal(says, schemas)])),
      },
    },
  };
}

function refusal(description: string, schemas: Schemas): Response {
  return {
    description,
    headers: headers("X-Request-ID"),
    content: { "application/json": { schema: schemas.add(oauthError) } },
  };
}

function metadataEndpoint(schemas: Schemas, refusals: RefusalResponses): Endpoint {
  return {
    method: "get",
    path: "/.well-known/oauth-authorization-server",
    operation: {
      operationId: "describeAuthorizationServer",
      summary: "What the endpoints of sign-in are (RFC 8414)",
      tags: ["Sign-in"],
      security: [],
      responses: {
        200: {
          description: "The metadata.",
          headers: headers("X-Request-ID"),
          content: { "application/json": { schema: schemas.add(metadata) } },
        },
        ...refusals.of(ANY),
      },
    },
  };
}
