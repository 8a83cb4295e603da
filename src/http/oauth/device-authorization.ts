import { beginDeviceAuthorization, type DeviceBegun } from "../../db/calls-device.js";
import { clientAddress, clientNetwork } from "../client-address.js";
import { newDeviceCode } from "../credentials.js";
import { issuerOf } from "./issuer.js";
import { OAuthError } from "./oauth-error.js";
import { oauthRoute, type OAuthCall } from "./oauth-route.js";
import { newUserCode, showUserCode } from "./user-code.js";

export const DEVICE_AUTHORIZATION_PATH = "/oauth/device_authorization";

/** A code is taken once in billions of times: more often in a row, and something else is wrong. */
const TRIES_MAX = 5;

/** POST /oauth/device_authorization: a device asks to be signed in (RFC 8628, section 3.1). Both codes are in this answer and nowhere else. */
export const deviceAuthorization = oauthRoute({
  path: DEVICE_AUTHORIZATION_PATH,
  answer: async (call) => {
    const deviceCode = newDeviceCode();
    const { userCode, begun } = await begin(call, deviceCode.hash);
    if (begun.status === "throttled") {
      throw new OAuthError(
        "temporarily_unavailable",
        `Too many sign-ins were begun from here. Wait ${begun.retryAfter} s.`,
        {
          status: 429,
          headers: { "Retry-After": String(begun.retryAfter) },
        },
      );
    }
    const page = `${issuerOf(call.deps, call.ctx)}/device`;
    const shown = showUserCode(userCode);
    return {
      device_code: deviceCode.text,
      user_code: shown,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${shown}`,
      expires_in: begun.expiresIn,
      interval: begun.interval,
    };
  },
});

interface Begun {
  userCode: string;
  begun: Exclude<DeviceBegun, { status: "taken" }>;
}

async function begin({ deps, ctx, clientId }: OAuthCall<never>, deviceCodeHash: Buffer): Promise<Begun> {
  const device = { deviceCodeHash, clientId, address: clientAddress(ctx), network: clientNetwork(ctx) };
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const userCode = newUserCode();
    const begun = await beginDeviceAuthorization(deps.sql, { ...device, userCode });
    if (begun.status !== "taken") return { userCode, begun };
  }
  throw new Error(`${TRIES_MAX} random user codes in a row are taken`);
}
