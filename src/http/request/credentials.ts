import { createHash, randomBytes } from "node:crypto";
import type { Context } from "koa";

const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i;

/** The token of `Authorization: Bearer <token>`; null if the header is missing or malformed. */
export function bearerToken(ctx: Context): string | null {
  return BEARER.exec(ctx.get("Authorization"))?.[1] ?? null;
}

/** The user name of `Authorization: Basic …`, whose password is ignored; null if the header is missing or malformed. */
export function basicUser(ctx: Context): string | null {
  const [, encoded] = /^Basic +([A-Za-z0-9+/=]{1,1024})$/i.exec(ctx.get("Authorization")) ?? [];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const end = text.indexOf(":");
  return end < 0 ? null : text.slice(0, end);
}

/** SHA-256 of a key or token; only this hash is ever stored or looked up. Credentials are random, so a plain hash cannot be brute-forced. */
export function hashCredential(credential: string): Buffer {
  return createHash("sha256").update(credential, "utf8").digest();
}

export interface NewCredential {
  /** The secret, which is shown only once. */
  text: string;
  hash: Buffer;
  /** Its first characters, enough to recognize it. */
  hint: string;
}

/**
 * The purpose of a credential: ingestion in an environment (`test`, `live`), the administrative API (`token`), a device that polls until it is
 * signed in (`device`), a browser that is signed in (`session`) or not yet (`visit`, of which nothing is stored), or a one-time link that accepts
 * an invitation, sets a password or signs a browser in (`link`).
 */
type CredentialKind = "test" | "live" | "token" | "device" | "session" | "visit" | "link";

/** Creates a credential, for example `svc_test_` and 48 hexadecimal digits: 192 random bits. */
export function newCredential(kind: CredentialKind): NewCredential {
  const prefix = `svc_${kind}_`;
  const text = prefix + randomBytes(24).toString("hex");
  return { text, hash: hashCredential(text), hint: text.slice(0, prefix.length + 4) };
}

/** Whether a credential is that of a browser's session, which its cookie holds. */
export const isSessionText = (text: string) => text.startsWith("svc_session_");

/**
 * One-time links below the public address (without a slash at its end). The secret is in the query, because the service does not receive a
 * fragment and its pages have no scripts; the page moves it into a cookie at once.
 */
export const invitationLink = (publicUrl: string, { text }: NewCredential) => `${publicUrl}/invitation?token=${text}`;
export const signInLink = (publicUrl: string, { text }: NewCredential) => `${publicUrl}/sign-in?token=${text}`;
export const passwordLink = (publicUrl: string, { text }: NewCredential) => `${publicUrl}/password?token=${text}`;
