import { createHash, randomBytes } from "node:crypto";
import type { Context } from "koa";

const BEARER = /^Bearer +([\x21-\x7e]{1,512})$/i;

/** The token of `Authorization: Bearer <token>`; null where the header is missing or malformed. */
export function bearerToken(ctx: Context): string | null {
  return BEARER.exec(ctx.get("Authorization"))?.[1] ?? null;
}

/** The user name of `Authorization: Basic …`, whose password is not looked at; null where the header is missing or malformed. */
export function basicUser(ctx: Context): string | null {
  const [, encoded] = /^Basic +([A-Za-z0-9+/=]{1,1024})$/i.exec(ctx.get("Authorization")) ?? [];
  if (encoded === undefined) return null;
  const text = Buffer.from(encoded, "base64").toString("utf8");
  const end = text.indexOf(":");
  return end < 0 ? null : text.slice(0, end);
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

/**
 * What a credential is for: ingestion in an environment, the administrative API, a device that polls until it is signed in, a browser that is
 * signed in, one where nobody is yet (nothing of it is stored), or a one-time link, by which an invitation is accepted, a password set or a browser
 * signed in.
 */
type CredentialKind = "test" | "live" | "token" | "device" | "session" | "visit" | "link";

/** A new credential, for example `svc_test_` and 48 hexadecimal digits: 192 random bits. */
export function newCredential(kind: CredentialKind): NewCredential {
  const prefix = `svc_${kind}_`;
  const text = prefix + randomBytes(24).toString("hex");
  return { text, hash: hashCredential(text), hint: text.slice(0, prefix.length + 4) };
}

/** Whether a text is that of a browser's session, which is in its cookie. */
export const isSessionText = (text: string) => text.startsWith("svc_session_");

/**
 * One-time links, below where people reach the service (without a slash at the end). The secret stands in the query, because pages without
 * scripts see no fragment; the page puts it into a cookie at once.
 */
export const invitationLink = (publicUrl: string, { text }: NewCredential) => `${publicUrl}/invitation?token=${text}`;
export const signInLink = (publicUrl: string, { text }: NewCredential) => `${publicUrl}/sign-in?token=${text}`;
export const passwordLink = (publicUrl: string, { text }: NewCredential) => `${publicUrl}/password?token=${text}`;
