import { createHash, randomBytes } from "node:crypto";
import type { Context } from "koa";

const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i;

/** The token of `Authorization: Bearer <token>`; null where the header is missing or malformed. */
export function bearerToken(ctx: Context): string | null {
  return BEARER.exec(ctx.get("Authorization"))?.[1] ?? null;
}

/** SHA-256 of a key or token: all that is ever stored or looked up. Credentials are random, so a plain hash cannot be searched. */
export function hashCredential(credential: string): Buffer {
  return createHash("sha256").update(credential, "utf8").digest();
}

export interface NewCredential {
  /** To be shown once. */
  text: string;
  hash: Buffer;
  /** The first characters, enough to recognize it. */
  hint: string;
}

/** A new ingestion key of an environment, for example `svc_test_` and 48 hexadecimal digits. */
export const newApiKey = (environment: "test" | "live") => newCredential(`svc_${environment}_`);

/** A new access token of the administrative API. */
export const newAccessToken = () => newCredential("svc_token_");

/** What a device that asks to be signed in polls with. */
export const newDeviceCode = () => newCredential("svc_device_");

/** A new session of a browser. */
export const newSession = () => newCredential("svc_session_");

/** What stands for a browser before anybody signed in there; nothing of it is stored. */
export const newVisit = () => newCredential("svc_visit_");

/** The secret of a one-time link, by which an invitation is accepted or a password set. */
export const newLinkSecret = () => newCredential("svc_link_");

function newCredential(prefix: string): NewCredential {
  // 192 random bits.
  const text = prefix + randomBytes(24).toString("hex");
  return { text, hash: hashCredential(text), hint: text.slice(0, prefix.length + 4) };
}

/**
 * One-time links, below where people reach the service (without a slash at the end). The secret stands in the query, because pages without
 * scripts see no fragment; the page puts it into a cookie at once.
 */
export const invitationLink = (publicUrl: string, { text }: NewCredential) => `${publicUrl}/invitation?token=${text}`;
export const passwordLink = (publicUrl: string, { text }: NewCredential) => `${publicUrl}/password?token=${text}`;
