import type { Context } from "koa";
import { ApiError } from "../errors.js";
import { pathParameters, type Route } from "../route.js";
import { DEVICE_AUTHORIZATION_PATH, deviceAuthorization } from "./device-authorization.js";
import { issuerOf, type OAuthDeps } from "./oauth-route.js";
import { DEVICE_GRANT, REVOCATION_PATH, revoke, token, TOKEN_PATH } from "./token.js";

const WELL_KNOWN = "/.well-known/oauth-authorization-server";

/**
 * GET /.well-known/oauth-authorization-server: what an OAuth client has to know of this service (RFC 8414). Below a public address with a
 * path, clients look for it with that path appended, at the root of the host; a proxy may lead them here as they ask.
 */
function metadataRoutes(deps: OAuthDeps): Route[] {
  const answer = (ctx: Context): void => {
    ctx.body = metadata(issuerOf(deps, ctx));
  };
  return [
    { method: "GET", path: WELL_KNOWN, handle: answer },
    {
      method: "GET",
      path: `${WELL_KNOWN}/*issuer`,
      handle: (ctx) => {
        if (`/${pathParameters(ctx)["issuer"]}` !== new URL(issuerOf(deps, ctx)).pathname)
          throw new ApiError(404, "NOT_FOUND");
        answer(ctx);
      },
    },
  ];
}

function metadata(issuer: string): object {
  const withoutSecret = ["none"];
  return {
    issuer,
    device_authorization_endpoint: issuer + DEVICE_AUTHORIZATION_PATH,
    token_endpoint: issuer + TOKEN_PATH,
    token_endpoint_auth_methods_supported: withoutSecret,
    revocation_endpoint: issuer + REVOCATION_PATH,
    revocation_endpoint_auth_methods_supported: withoutSecret,
    grant_types_supported: [DEVICE_GRANT],
    response_types_supported: [],
  };
}

/** The authorization server: programs are signed in by a person who approves them on the page /device. */
export function oauthRoutes(deps: OAuthDeps): Route[] {
  return [...metadataRoutes(deps), ...[deviceAuthorization, token, revoke].map((route) => route(deps))];
}
