import { call } from "../../db/api/call.js";
import type { DeviceRedeemed } from "../../db/api/sign-in.js";
import { hashCredential, newAccessToken } from "../request/credentials.js";
import { OAuthError } from "./oauth-error.js";
import { oauthRoute } from "./oauth-route.js";

export const TOKEN_PATH = "/oauth/token";
export const DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code";

/** POST /oauth/token: a device asks whether it was approved (RFC 8628, section 3.4). The token is in this answer and nowhere else. */
export const token = oauthRoute({
  path: TOKEN_PATH,
  parameters: ["grant_type", "device_code"],
  answer: async ({ deps, clientId, required }) => {
    if (required("grant_type") !== DEVICE_GRANT) {
      throw new OAuthError("unsupported_grant_type", `The only grant_type of this service is ${DEVICE_GRANT}.`);
    }
    const deviceCode = hashCredential(required("device_code"));
    const accessToken = newAccessToken();
    const redeemed = await call(deps.sql, "redeem_device_code", deviceCode, clientId, accessToken.hash);
    if (redeemed.status !== "granted") throw refusal(redeemed);
    return { access_token: accessToken.text, token_type: "Bearer", expires_in: redeemed.expiresIn };
  },
});

function refusal(redeemed: Exclude<DeviceRedeemed, { status: "granted" }>): OAuthError {
  const { status } = redeemed;
  switch (status) {
    case "authorization_pending":
      return new OAuthError(status, "Nobody has decided yet. Ask again after the interval.");
    case "slow_down":
      return new OAuthError(status, `Asked too early. From now on wait ${redeemed.interval} s each time.`);
    case "access_denied":
      return new OAuthError(status, "The sign-in was denied.");
    case "expired_token":
      return new OAuthError(status, "The codes have expired. Begin the sign-in again.");
    case "invalid_grant":
      return new OAuthError(status, INVALID_GRANTS[redeemed.reason]);
  }
}

const INVALID_GRANTS = {
  unknown: "The device code is none of this client. Begin the sign-in again.",
  redeemed: "The device code was redeemed already; it is good for one token.",
};

export const REVOCATION_PATH = "/oauth/revoke";

/** POST /oauth/revoke: ends a token (RFC 7009). One that nobody has is answered as one that was ended. */
export const revoke = oauthRoute({
  path: REVOCATION_PATH,
  parameters: ["token"],
  answer: async ({ deps, clientId, required }) => {
    const { revoked } = await call(deps.sql, "revoke_session_token", hashCredential(required("token")), clientId);
    if (revoked) return undefined;
    throw new OAuthError(
      "invalid_request",
      "The token was not made by a sign-in of this client, so it stays good. An owner of its organization can revoke it.",
    );
  },
});
