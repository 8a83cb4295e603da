import type { Context } from "koa";
import type { Logger } from "pino";
import { call } from "../db/api/call.js";
import type { SessionUser } from "../db/api/sign-in.js";
import type { OAuthDeps } from "../http/oauth/oauth-route.js";
import { hashCredential, type NewCredential } from "../http/request/credentials.js";
import type { Mailer } from "../mail/mailer.js";
import type { Passwords } from "./sign-in/passwords.js";

/** What the pages need. */
export interface PageDeps extends OAuthDeps {
  /** Of `formKey`: signs the tokens of forms. */
  key: Buffer;
  passwords: Passwords;
  /** Null where the service sends no mail. */
  mailer: Mailer | null;
  log: Logger;
}

/** Our cookies are for this host alone, for no script, and not for requests that other sites make, except links to us. */
const ATTRIBUTES = { httpOnly: true, sameSite: "lax", path: "/" } as const;

/** Whether browsers reach the service by TLS only, so that cookies can be bound to that. */
function isSecure({ publicUrl }: PageDeps): boolean {
  return new URL(publicUrl()).protocol === "https:";
}

/** A browser takes a name of this prefix only by TLS, from this very host, and for all its paths: nobody beside us can set it. */
function cookieName(deps: PageDeps, name: string): string {
  return isSecure(deps) ? `__Host-${name}` : name;
}

export function getCookie(deps: PageDeps, ctx: Context, name: string): string | undefined {
  return ctx.cookies.get(cookieName(deps, name));
}

/** Until the browser is closed where no time is given; a value of null takes it from the browser. */
export function setCookie(deps: PageDeps, ctx: Context, name: string, value: string | null, seconds?: number): void {
  const secure = isSecure(deps);
  // TLS may end at a proxy in front of us.
  ctx.cookies.secure = secure;
  ctx.cookies.set(cookieName(deps, name), value, {
    ...ATTRIBUTES,
    secure,
    ...(seconds === undefined ? {} : { maxAge: seconds * 1_000 }),
  });
}

/** Who is signed in at a browser. */
export interface PageSession extends SessionUser {
  /** SHA-256 of the cookie's value. */
  hash: Buffer;
}

/** How long a browser stays signed in; the database ends the session by itself then. */
const SESSION_SECONDS = 12 * 60 * 60;

const COOKIE = "svc_session";
/** Stands for the browser before anybody signed in. */
export const VISIT_COOKIE = "svc_visit";
const FORM = /^svc_session_[0-9a-f]{48}$/;

/** Who is signed in, by one query; null for nobody, and for a session that has expired or ended. */
export async function currentSession(deps: PageDeps, ctx: Context): Promise<PageSession | null> {
  const value = getCookie(deps, ctx, COOKIE);
  if (value === undefined || !FORM.test(value)) return null;
  const hash = hashCredential(value);
  const user = await call(deps.sql, "current_session", hash);
  return user && { ...user, hash };
}

/** Hands a session to the browser, for its visit: one that was just made, never one that the browser had. */
export function giveSession(deps: PageDeps, ctx: Context, session: NewCredential): void {
  setCookie(deps, ctx, COOKIE, session.text, SESSION_SECONDS);
  setCookie(deps, ctx, VISIT_COOKIE, null);
}

/** Takes the session's cookie from the browser. */
export function takeSession(deps: PageDeps, ctx: Context): void {
  setCookie(deps, ctx, COOKIE, null);
}
