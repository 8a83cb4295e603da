import { revokeSessionToken } from "../../db/calls-device.js";
import { hashCredential } from "../credentials.js";
import { OAuthError } from "./oauth-error.js";
import { oauthRoute } from "./oauth-route.js";

export const REVOCATION_PATH = "/oauth/revoke";

/** POST /oauth/revoke: ends a token (RFC 7009). One that nobody has is answered as one that was ended. */
export const revoke = oauthRoute({
  path: REVOCATION_PATH,
  parameters: ["token"],
  answer: async ({ deps, clientId, required }) => {
    if (await revokeSessionToken(deps.sql, hashCredential(required("token")), clientId)) return undefined;
    throw new OAuthError(
      "invalid_request",
      "The token was not made by a sign-in of this client, so it stays good. An owner of its organization can revoke it.",
    );
  },
});
