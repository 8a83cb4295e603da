import { createHash, randomBytes } from "node:crypto";
import type { Context } from "koa";

const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i;

/** 192 random bits. */
const RANDOM_BYTES = 24;
const HINT_RANDOM_CHARACTERS = 4;

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
export function newApiKey(environment: "test" | "live"): NewCredential {
  return newCredential(`svc_${environment}_`);
}

/** A new access token of the administrative API. */
export function newAccessToken(): NewCredential {
  return newCredential("svc_token_");
}

/** What a device that asks to be signed in polls with. */
export function newDeviceCode(): NewCredential {
  return newCredential("svc_device_");
}

/** A new session of a browser. */
export function newSession(): NewCredential {
  return newCredential("svc_session_");
}

/** What stands for a browser before anybody signed in there; nothing of it is stored. */
export function newVisit(): NewCredential {
  return newCredential("svc_visit_");
}

/** The secret of a one-time link, by which an invitation is accepted or a password set. */
export function newLinkSecret(): NewCredential {
  return newCredential("svc_link_");
}

function newCredential(prefix: string): NewCredential {
  const text = prefix + randomBytes(RANDOM_BYTES).toString("hex");
  return { text, hash: hashCredential(text), hint: text.slice(0, prefix.length + HINT_RANDOM_CHARACTERS) };
}
