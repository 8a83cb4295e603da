import type { Context } from "koa";
import type { Logger } from "pino";
import { call } from "../db/api/call.js";
import type { SessionUser } from "../db/api/sign-in.js";
import type { OAuthDeps } from "../http/oauth/oauth-route.js";
import { hashCredential, type NewCredential } from "../http/request/credentials.js";
import type { Mailer } from "../mail/mailer.js";
import type { Passwords } from "./sign-in/passwords.js";

/** Dependencies of the pages. */
export interface PageDeps extends OAuthDeps {
  /** Signs form tokens; from `formKey`. */
  key: Buffer;
  passwords: Passwords;
  /** Null if the service sends no mail. */
  mailer: Mailer | null;
  log: Logger;
}

/** Cookies are for this host only, hidden from scripts, and not sent with requests from other sites, except when a link to us is followed. */
const ATTRIBUTES = { httpOnly: true, sameSite: "lax", path: "/" } as const;

/** Whether browsers reach the service by TLS, so that cookies can require it. */
function isSecure({ publicUrl }: PageDeps): boolean {
  return new URL(publicUrl()).protocol === "https:";
}

/** Browsers accept the prefix `__Host-` only by TLS, from this very host and for all paths, so no other host can set the cookie. */
function cookieName(deps: PageDeps, name: string): string {
  return isSecure(deps) ? `__Host-${name}` : name;
}

export function getCookie(deps: PageDeps, ctx: Context, name: string): string | undefined {
  return ctx.cookies.get(cookieName(deps, name));
}

/** Sets a cookie, until the browser is closed unless `seconds` is given; a value of null removes it. */
export function setCookie(deps: PageDeps, ctx: Context, name: string, value: string | null, seconds?: number): void {
  const secure = isSecure(deps);
  // TLS may end at a proxy.
  ctx.cookies.secure = secure;
  ctx.cookies.set(cookieName(deps, name), value, {
    ...ATTRIBUTES,
    secure,
    ...(seconds === undefined ? {} : { maxAge: seconds * 1_000 }),
  });
}

/** The session of a browser and its user. */
export interface PageSession extends SessionUser {
  /** SHA-256 of the cookie's value. */
  hash: Buffer;
}

/** Duration of a session; the database lets it expire after the same time. */
const SESSION_SECONDS = 12 * 60 * 60;

const COOKIE = "svc_session";
/** Identifies the browser before anybody signed in. */
export const VISIT_COOKIE = "svc_visit";
const FORM = /^svc_session_[0-9a-f]{48}$/;

/** The current session, by one query; null if nobody is signed in or the session has expired or ended. */
export async function currentSession(deps: PageDeps, ctx: Context): Promise<PageSession | null> {
  const value = getCookie(deps, ctx, COOKIE);
  if (value === undefined || !FORM.test(value)) return null;
  const hash = hashCredential(value);
  const user = await call(deps.sql, "current_session", hash);
  return user && { ...user, hash };
}

/** Sets the cookie of a new session, in place of the visit. Never pass a session that the browser already had. */
export function setSessionCookie(deps: PageDeps, ctx: Context, session: NewCredential): void {
  setCookie(deps, ctx, COOKIE, session.text, SESSION_SECONDS);
  setCookie(deps, ctx, VISIT_COOKIE, null);
}

/** Removes the session's cookie from the browser. */
export function clearSessionCookie(deps: PageDeps, ctx: Context): void {
  setCookie(deps, ctx, COOKIE, null);
}
