import type { Context } from "koa";
import { call } from "../../db/api/call.js";
import { hashCredential, type NewCredential } from "../request/credentials.js";
import { isSecure, type PageDeps } from "./deps.js";

/** Our cookies are for this host alone, for no script, and not for requests that other sites make, except links to us. */
const ATTRIBUTES = { httpOnly: true, sameSite: "lax", path: "/" } as const;

/** A browser takes a name of this prefix only by TLS, from this very host, and for all its paths: nobody beside us can set it. */
function nameOf(deps: PageDeps, name: string): string {
  return isSecure(deps) ? `__Host-${name}` : name;
}

export function getCookie(deps: PageDeps, ctx: Context, name: string): string | undefined {
  return ctx.cookies.get(nameOf(deps, name));
}

/** Until the browser is closed where no time is given. */
export function setCookie(deps: PageDeps, ctx: Context, name: string, value: string | null, seconds?: number): void {
  const secure = isSecure(deps);
  // TLS may end at a proxy in front of us.
  ctx.cookies.secure = secure;
  ctx.cookies.set(nameOf(deps, name), value, {
    ...ATTRIBUTES,
    secure,
    ...(seconds === undefined ? {} : { maxAge: seconds * 1_000 }),
  });
}

export function clearCookie(deps: PageDeps, ctx: Context, name: string): void {
  setCookie(deps, ctx, name, null);
}

/** Who is signed in at a browser. */
export interface PageSession {
  userId: string;
  email: string;
  /** SHA-256 of the cookie's value. */
  hash: Buffer;
}

/** How long a browser stays signed in; the database ends the session by itself then. */
const SESSION_SECONDS = 12 * 60 * 60;

const COOKIE = "svc_session";
const FORM = /^svc_session_[0-9a-f]{48}$/;

/** Who is signed in, by one query; null for nobody, and for a session that has expired or ended. */
export async function currentSession(deps: PageDeps, ctx: Context): Promise<PageSession | null> {
  const value = getCookie(deps, ctx, COOKIE);
  if (value === undefined || !FORM.test(value)) return null;
  const hash = hashCredential(value);
  const user = await call(deps.sql, "current_session", hash);
  return user && { ...user, hash };
}

/** Hands a session to the browser: one that was just made, never one that the browser had. */
export function giveSession(deps: PageDeps, ctx: Context, session: NewCredential): void {
  setCookie(deps, ctx, COOKIE, session.text, SESSION_SECONDS);
}

/** Takes the session's cookie from the browser. */
export function takeSession(deps: PageDeps, ctx: Context): void {
  clearCookie(deps, ctx, COOKIE);
}
