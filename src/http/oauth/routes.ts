import type { Route } from "../route.js";
import { deviceAuthorization } from "./device-authorization.js";
import { metadataRoutes } from "./metadata.js";
import type { OAuthDeps } from "./oauth-route.js";
import { revoke } from "./revoke.js";
import { token } from "./token.js";

/** The authorization server: programs are signed in by a person who approves them on the page /device. */
export function oauthRoutes(deps: OAuthDeps): Route[] {
  return [...metadataRoutes(deps), ...[deviceAuthorization, token, revoke].map((route) => route(deps))];
}
