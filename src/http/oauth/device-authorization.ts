import { randomInt } from "node:crypto";
import { call } from "../../db/api/call.js";
import { clientAddress, clientNetwork } from "../request/client-address.js";
import { newCredential } from "../request/credentials.js";
import { issuerOf, type OAuthCall, OAuthError, oauthRoute } from "./oauth-route.js";

/** Consonants only, so that no words result, and none that resembles another or a digit (RFC 8628, section 6.1). */
const LETTERS = "BCDFGHJKLMNPQRSTVWXZ";
const LENGTH = 8;
const USER_CODE = new RegExp(`^[${LETTERS}]{${LENGTH}}$`, "i");

/** A new code for a person to compare or type, without its hyphen: one of 2.5 · 10¹⁰. */
export function newUserCode(): string {
  return Array.from({ length: LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join("");
}

/** The stored form of a code that a person typed, in any case, with or without hyphens and spaces. Null if it is not a code. */
export function readUserCode(text: string): string | null {
  const letters = text.replace(/[\s\p{Pd}]/gu, "");
  return USER_CODE.test(letters) ? letters.toUpperCase() : null;
}

/** The code as people see it: `BCDF-GHJK`. */
export function showUserCode(code: string): string {
  return `${code.slice(0, LENGTH / 2)}-${code.slice(LENGTH / 2)}`;
}

export const DEVICE_AUTHORIZATION_PATH = "/oauth/device_authorization";

/** POST /oauth/device_authorization: a device asks to be signed in (RFC 8628, section 3.1). Only this answer contains both codes. */
export const deviceAuthorization = oauthRoute({
  path: DEVICE_AUTHORIZATION_PATH,
  answer: async (call) => {
    const deviceCode = newCredential("device");
    const { userCode, authorization } = await begin(call, deviceCode.hash);
    if (authorization.status === "throttled") {
      const description = `Too many sign-ins were started from here. Wait ${authorization.retryAfter} s.`;
      const headers = { "Retry-After": String(authorization.retryAfter) };
      throw new OAuthError("temporarily_unavailable", description, 429, headers);
    }
    const page = `${issuerOf(call.deps, call.ctx)}/device`;
    const shown = showUserCode(userCode);
    return {
      device_code: deviceCode.text,
      user_code: shown,
      verification_uri: page,
      verification_uri_complete: `${page}?user_code=${shown}`,
      expires_in: authorization.expiresIn,
      interval: authorization.interval,
    };
  },
});

async function begin({ deps, ctx, clientId }: OAuthCall<never>, deviceCodeHash: Buffer) {
  const device = { deviceCodeHash, clientId, address: clientAddress(ctx), network: clientNetwork(ctx) };
  // A random code is hardly ever taken already: several in a row mean that something else is wrong.
  for (let tries = 0; tries < 5; tries++) {
    const userCode = newUserCode();
    const authorization = await call(deps.sql, "begin_device_authorization", { ...device, userCode });
    if (authorization.status !== "taken") return { userCode, authorization };
  }
  throw new Error("5 random user codes in a row are taken");
}
