import Type from "typebox";
import { describedText, exact, instant, named } from "../admin/schemas.js";
import type { Description, Endpoint } from "./endpoint.js";
import { ANY } from "./refusals.js";

const clientId = describedText("The program that asks; the command line is `svc-cli`.", "svc-cli");

const oauthError = named("OAuthError", "A refusal in OAuth's own words (RFC 6749, section 5.2).", {
  error: describedText("One of the words that the RFCs register.", "authorization_pending"),
  error_description: Type.String(),
});

const authorization = named("DeviceAuthorization", {
  device_code: Type.String(),
  user_code: Type.String({ examples: ["BCDF-GHJK"] }),
  verification_uri: Type.String({ format: "uri" }),
  verification_uri_complete: Type.String({ format: "uri" }),
  expires_in: Type.Integer({ description: "Seconds." }),
  interval: Type.Integer({ description: "Seconds between two requests of the client." }),
});

const token = named("Token", {
  access_token: Type.String({ description: "For the header Authorization; shown here and nowhere else, ever." }),
  token_type: Type.Literal("Bearer"),
  expires_in: Type.Integer({ description: "Seconds." }),
});

const browserLink = named("BrowserLink", {
  email: Type.String({ description: "Who is signed in by it." }),
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
  401: "Credentials of a client were sent, and clients of this service have none: `invalid_client`.",
  413: "The form is too large: `invalid_request`.",
  500: "The service failed: `server_error`.",
  503: "The service cannot answer for the moment: `temporarily_unavailable`.",
};

/** What a request is answered that never gets there: in the envelope of all others. */
const { 408: slow, 431: large } = ANY;
const UNREAD = { 408: slow!, 431: large! };

/**
 * Endpoints that take a form; those without an answer's schema answer nothing. With what refusals stand for, by status, where it is not what it
 * is for all.
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
    refusals: { 429: "Too many sign-ins were begun from this address: `temporarily_unavailable`." },
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
  },
  {
    path: "/oauth/browser_link",
    operationId: "linkBrowser",
    summary: "Make a link by which the token's user signs a browser in",
    description: "Good once and for five minutes, and until the next one is made. Of a sign-in by this client.",
    form: exact({ token: Type.String(), client_id: clientId }),
    answer: browserLink,
    refusals: { 400: "No token of a sign-in by this client: `invalid_grant`; `invalid_request`, `invalid_client`." },
  },
];

/** What signs people in from programs, by the standards (src/http/oauth). */
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
    summary: "What the endpoints of sign-in are (RFC 8414)",
    answers: { 200: { description: "The metadata.", schema: metadata } },
    refusals: ANY,
  };
  return [...posts, metadataEndpoint].map((words) => to.endpoint({ ...words, tag: "Sign-in", parameters: null }));
}
