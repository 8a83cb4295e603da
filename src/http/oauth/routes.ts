import type { Context } from "koa";
import { call } from "../../db/api/call.js";
import type { DeviceRedeemed } from "../../db/api/sign-in.js";
import { ApiError } from "../errors.js";
import { hashCredential, newCredential, signInLink } from "../request/credentials.js";
import type { Route } from "../route.js";
import { DEVICE_AUTHORIZATION_PATH, deviceAuthorization } from "./device-authorization.js";
import { issuerOf, type OAuthDeps, OAuthError, oauthRoute } from "./oauth-route.js";

const TOKEN_PATH = "/oauth/token";
const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** POST /oauth/token: a device asks whether it was approved (RFC 8628, section 3.4). Only this answer contains the token. */
const token = oauthRoute({
  path: TOKEN_PATH,
  parameters: ["grant_type", "device_code"],
  answer: async ({ deps, clientId, required }) => {
    if (required("grant_type") !== DEVICE_GRANT) {
      throw new OAuthError("unsupported_grant_type", `The only grant_type of this service is ${DEVICE_GRANT}.`);
    }
    const deviceCode = hashCredential(required("device_code"));
    const accessToken = newCredential("token");
    const redeemed = await call(deps.sql, "redeem_device_code", deviceCode, clientId, accessToken.hash);
    if (redeemed.status !== "granted") throw new OAuthError(redeemed.status, refusalMessage(redeemed));
    return { access_token: accessToken.text, token_type: "Bearer", expires_in: redeemed.expiresIn };
  },
});

function refusalMessage(redeemed: Exclude<DeviceRedeemed, { status: "granted" }>): string {
  switch (redeemed.status) {
    case "authorization_pending":
      return "The sign-in is not approved yet. Ask again after the interval.";
    case "slow_down":
      return `Polled too early. From now on wait ${redeemed.interval} s each time.`;
    case "access_denied":
      return "The sign-in was denied.";
    case "expired_token":
      return "The codes have expired. Begin the sign-in again.";
    case "invalid_grant":
      return redeemed.reason === "unknown"
        ? "The device code was not issued to this client. Begin the sign-in again."
        : "The device code was already redeemed; it can be exchanged for one token only.";
  }
}

const REVOCATION_PATH = "/oauth/revoke";

/** POST /oauth/revoke: revokes a token (RFC 7009). An unknown token gets the same answer as a revoked one. */
const revoke = oauthRoute({
  path: REVOCATION_PATH,
  parameters: ["token"],
  answer: async ({ deps, clientId, required }) => {
    const { revoked } = await call(deps.sql, "revoke_session_token", hashCredential(required("token")), clientId);
    if (revoked) return undefined;
    throw new OAuthError(
      "invalid_request",
      "The token is not from a sign-in by this client, so it stays valid. An owner of its organization can revoke it.",
    );
  },
});

/**
 * POST /oauth/browser_link: creates a link, valid once, that signs the user of a client's token in to a browser. Particular to this service: no
 * standard has it.
 */
const browserLink = oauthRoute({
  path: "/oauth/browser_link",
  parameters: ["token"],
  answer: async ({ deps, ctx, clientId, required }) => {
    const secret = newCredential("link");
    const link = await call(deps.sql, "create_sign_in_link", hashCredential(required("token")), clientId, secret.hash);
    if (link !== null) return { ...link, uri: signInLink(issuerOf(deps, ctx), secret) };
    throw new OAuthError(
      "invalid_grant",
      "The token is not from a sign-in by this client, or is no longer valid. A token for programs cannot sign a browser in.",
    );
  },
});

const WELL_KNOWN = "/.well-known/oauth-authorization-server";

/**
 * GET /.well-known/oauth-authorization-server: the metadata for OAuth clients (RFC 8414). If the public address has a path, clients append that
 * path to the well-known one at the root of the host; a proxy can forward such requests here unchanged.
 */
function metadataRoutes(deps: OAuthDeps): Route[] {
  const answer = (ctx: Context): void => {
    const issuer = issuerOf(deps, ctx);
    ctx.body = {
      issuer,
      device_authorization_endpoint: issuer + DEVICE_AUTHORIZATION_PATH,
      token_endpoint: issuer + TOKEN_PATH,
      token_endpoint_auth_methods_supported: ["none"],
      revocation_endpoint: issuer + REVOCATION_PATH,
      revocation_endpoint_auth_methods_supported: ["none"],
      grant_types_supported: [DEVICE_GRANT],
      response_types_supported: [],
    };
  };
  return [
    { method: "GET", path: WELL_KNOWN, handle: answer },
    {
      method: "GET",
      path: `${WELL_KNOWN}/*issuer`,
      handle: (ctx) => {
        const { issuer } = (ctx as Context & { params: { issuer: string } }).params;
        if (`/${issuer}` !== new URL(issuerOf(deps, ctx)).pathname) throw new ApiError(404, "NOT_FOUND");
        answer(ctx);
      },
    },
  ];
}

/** The authorization server: a person signs a program in by approving it on the page /device. */
export function oauthRoutes(deps: OAuthDeps): Route[] {
  return [...metadataRoutes(deps), ...[deviceAuthorization, token, revoke, browserLink].map((route) => route(deps))];
}
