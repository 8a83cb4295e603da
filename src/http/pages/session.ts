import type { Context } from "koa";
import { currentSession as readSession } from "../../db/calls-sign-in.js";
import { hashCredential, type NewCredential } from "../credentials.js";
import { clearCookie, getCookie, setCookie } from "./cookies.js";
import type { PageDeps } from "./deps.js";

/** Who is signed in at a browser. */
export interface Session {
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
export async function currentSession(deps: PageDeps, ctx: Context): Promise<Session | null> {
  const value = getCookie(deps, ctx, COOKIE);
  if (value === undefined || !FORM.test(value)) return null;
  const hash = hashCredential(value);
  const user = await readSession(deps.sql, hash);
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
