import Type from "typebox";
import { describedText, exact, instant, named } from "../admin/schemas.js";
import type { Description, Endpoint } from "./endpoint.js";
import { ANY } from "./refusals.js";

const clientId = describedText("The program that signs in; the command line is `svc-cli`.", "svc-cli");

const oauthError = named("OAuthError", "A refusal in OAuth's format (RFC 6749, section 5.2).", {
  error: describedText("An error code of the OAuth RFCs.", "authorization_pending"),
  error_description: Type.String(),
});

const authorization = named("DeviceAuthorization", {
  device_code: Type.String(),
  user_code: Type.String({ examples: ["BCDF-GHJK"] }),
  verification_uri: Type.String({ format: "uri" }),
  verification_uri_complete: Type.String({ format: "uri" }),
  expires_in: Type.Integer({ description: "Seconds." }),
  interval: Type.Integer({ description: "Least number of seconds between two requests of the client." }),
});

const token = named("Token", {
  access_token: Type.String({ description: "For the header Authorization. It cannot be retrieved again." }),
  token_type: Type.Literal("Bearer"),
  expires_in: Type.Integer({ description: "Seconds." }),
});

const browserLink = named("BrowserLink", {
  email: Type.String({ description: "The user whom the link signs in." }),
  expiresAt: instant,
  uri: Type.String({ format: "uri" }),
});

const metadata = Type.Object(
  {
    issuer: Type.String({ format: "uri" }),
    token_endpoint: Type.String({ format: "uri" }),
    device_authorization_endpoint: Type.String({ format: "uri" }),
    revocation_endpoint: Type.String({ format: "uri" }),
  },
  { title: "AuthorizationServer", description: "Authorization server metadata (RFC 8414)." },
);

const REFUSALS = {
  400: "The request is not valid: `invalid_request`, `invalid_client`.",
  401: "The request has client credentials, but clients of this service have none: `invalid_client`.",
  413: "The form is too large: `invalid_request`.",
  500: "The service failed: `server_error`.",
  503: "The service is not available for the moment: `temporarily_unavailable`.",
};

/** Refusals before a request reaches the endpoint, which have the envelope of all other endpoints. */
const { 408: slow, 431: large } = ANY;
const UNREAD = { 408: slow!, 431: large! };

/**
 * Endpoints that take a form; without `answer` the answer has no body. `refusals` has the meanings of statuses that differ from REFUSALS.
 */
const ENDPOINTS = [
  {
    path: "/oauth/device_authorization",
    operationId: "authorizeDevice",
    summary: "Begin to sign in on a device (RFC 8628)",
    description:
      "Show `user_code` and `verification_uri` to the person, then ask the token endpoint every `interval` seconds.",
    form: exact({ client_id: clientId }),
    answer: authorization,
    refusals: { 429: "Too many sign-ins were started from this address: `temporarily_unavailable`." },
  },
  {
    path: "/oauth/token",
    operationId: "issueToken",
    summary: "Get the access token once the person has approved the sign-in (RFC 8628)",
    description: "A device code can be exchanged for one token only.",
    form: exact({
      grant_type: Type.Literal("urn:ietf:params:oauth:grant-type:device_code"),
      device_code: Type.String(),
      client_id: clientId,
    }),
    answer: token,
    refusals: {
      400:
        "No token (yet): `authorization_pending`, `slow_down` (make the interval five seconds longer), `access_denied`, `expired_token`, " +
        "`invalid_grant`; or the request is not valid: `invalid_request`, `invalid_client`, `unsupported_grant_type`.",
    },
  },
  {
    path: "/oauth/revoke",
    operationId: "revokeAccessToken",
    summary: "Revoke an access token (RFC 7009)",
    description:
      "The token must be from a sign-in by this client. An unknown token gets the same answer as a revoked one.",
    form: exact({ token: Type.String(), token_type_hint: Type.Optional(Type.String()), client_id: clientId }),
  },
  {
    path: "/oauth/browser_link",
    operationId: "linkBrowser",
    summary: "Create a link that signs the token's user in to a browser",
    description:
      "The link is valid once, for five minutes, and until another is created. The token must be from a sign-in by this client.",
    form: exact({ token: Type.String(), client_id: clientId }),
    answer: browserLink,
    refusals: {
      400: "The token is not from a sign-in by this client: `invalid_grant`; or `invalid_request`, `invalid_client`.",
    },
  },
];

/** The standard endpoints by which programs sign people in (src/http/oauth). */
export function oauthEndpoints(to: Description): Endpoint[] {
  const posts = ENDPOINTS.map(({ form, answer, refusals, ...names }) => {
    const failures = Object.entries({ ...REFUSALS, ...refusals }).map(
      ([status, description]) => [status, { description, schema: oauthError }] as const,
    );
    return {
      method: "post" as const,
      ...names,
      body: { schema: form, type: "application/x-www-form-urlencoded" },
      answers: { 200: { description: "Done.", ...(answer && { schema: answer }) }, ...Object.fromEntries(failures) },
      refusals: UNREAD,
    };
  });
  const metadataEndpoint = {
    path: "/.well-known/oauth-authorization-server",
    operationId: "describeAuthorizationServer",
    summary: "Get the addresses of the sign-in endpoints (RFC 8414)",
    answers: { 200: { description: "The metadata.", schema: metadata } },
    refusals: ANY,
  };
  return [...posts, metadataEndpoint].map((text) => to.endpoint({ ...text, tag: "Sign-in", parameters: null }));
}
