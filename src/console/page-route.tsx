import { createHmac, hkdfSync, randomBytes, timingSafeEqual } from "node:crypto";
import type { Context } from "koa";
import type { VNode } from "preact";
import { ClientGoneError } from "../http/request/body.js";
import { type Form, readForm } from "../http/request/form.js";
import type { Route } from "../http/route.js";
import { logFailure, PageError, renderErrorPage } from "./page.js";
import { currentSession, getCookie, type PageDeps, type PageSession, setCookie, VISIT_COOKIE } from "./session.js";
import { type NewCredential, newCredential } from "../http/request/credentials.js";

/**
 * Checks that a form was sent from one of our pages: by the header Origin, which current browsers send with every form; if it is missing, by
 * Sec-Fetch-Site or Referer.
 *
 * @throws {PageError} 403, also if a request has none of the three
 */
function requireSameOrigin(deps: PageDeps, ctx: Context): void {
  if (isFromUs(deps, ctx)) return;
  const ours = new URL(deps.publicUrl()).origin;
  throw new PageError(403, {
    title: "The form came from another site",
    message: `The form was not sent from a page of ${ours}, so nothing was done.`,
    fix: `Open the page at ${ours} and submit the form there. If this is not the address at which you reach this service, ask its operator to set SVC_PUBLIC_URL to the right one.`,
  });
}

function isFromUs(deps: PageDeps, ctx: Context): boolean {
  const origin = ctx.get("Origin");
  if (origin !== "") return isOurs(deps, ctx, origin);
  const site = ctx.get("Sec-Fetch-Site");
  if (site !== "") return site === "same-origin" || site === "none";
  return isOurs(deps, ctx, ctx.get("Referer"));
}

function isOurs({ publicUrl, anyHost }: PageDeps, ctx: Context, address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, origin, host } = new URL(address);
  if (origin === new URL(publicUrl()).origin) return true;
  return anyHost && (protocol === "http:" || protocol === "https:") && host === ctx.host.toLowerCase();
}

/** A browser's request for a page, or with the form of a page. */
export interface PageVisit<Field extends string> {
  deps: PageDeps;
  ctx: Context;
  /** Null if nobody is signed in. */
  session: PageSession | null;
  /** The fields of a POST. */
  form: Form<Field>;
  /** The hidden field that each form of the page must contain. */
  tokenField: () => VNode;
}

interface PageRoute<Field extends string> {
  method: "GET" | "POST";
  path: string;
  /** The fields of the form, without its token. */
  fields?: readonly Field[];
  /** Renders a page, or redirects the browser. Anything it throws becomes an error page. */
  answer(visit: PageVisit<Field>): void | Promise<void>;
  /** Answers a form without the token for this browser, in place of an error page. Nothing may be changed. */
  outdated?(visit: PageVisit<Field>): void | Promise<void>;
}

/** Makes the route of a page. A POST reaches `answer` only if it came from one of our pages with the token for this browser. */
export function pageRoute<const Field extends string = never>(route: PageRoute<Field>): (deps: PageDeps) => Route {
  const { method, path, fields = [] } = route;
  return (deps) => ({
    method,
    path,
    handle: async (ctx) => {
      try {
        if (method === "POST") requireSameOrigin(deps, ctx);
        const form = method === "POST" ? await readForm(ctx, [...fields, TOKEN_FIELD]) : undefined;
        const session = await currentSession(deps, ctx);
        const isCurrent = form === undefined || hasToken(deps, ctx, session, form[TOKEN_FIELD]);
        const asked = { deps, ctx, session, form: (form ?? {}) as Form<Field> };
        const visit = { ...asked, tokenField: () => tokenField(deps, ctx, session) };
        if (isCurrent) await route.answer(visit);
        else if (route.outdated !== undefined) await route.outdated(visit);
        else throw outdatedForm();
      } catch (error) {
        // Nobody would see an error page.
        if (error instanceof ClientGoneError) throw error;
        logFailure(ctx, error);
        renderErrorPage(ctx, error);
      }
    },
  });
}

/** A parameter of the page's address; undefined if it is missing or repeated. */
export function queryText(ctx: Context, name: string): string | undefined {
  const value = ctx.query[name];
  return typeof value === "string" ? value : undefined;
}

/** The name of the hidden field in every form. */
const TOKEN_FIELD = "form_token";

const VISIT = /^svc_visit_[0-9a-f]{48}$/;

/** Derives the key that signs form tokens from SVC_SECRET. Call it once. */
export function formKey(serviceSecret: string): Buffer {
  // The purpose is part of the derivation, so that each use of SVC_SECRET has its own key.
  return Buffer.from(hkdfSync("sha256", serviceSecret, "", "svc form tokens", 32));
}

/** The hidden field of a form on a page for this browser, another one each time. May set the visit cookie to which the token is bound. */
function tokenField(deps: PageDeps, ctx: Context, session: PageSession | null): VNode {
  const token = tokenOf(deps, tokenSubject(deps, ctx, session), randomBytes(NONCE_BYTES).toString("base64url"));
  return <input type="hidden" name={TOKEN_FIELD} value={token} />;
}

/** Whether the form was on a page that we showed to this browser and the user who is signed in now. */
function hasToken(deps: PageDeps, ctx: Context, session: PageSession | null, token = ""): boolean {
  const expected = Buffer.from(tokenOf(deps, tokenSubject(deps, ctx, session), token.slice(0, NONCE_LENGTH)));
  const given = Buffer.from(token);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

/** @param fix what to do */
export function outdatedForm(fix = "Open the page again and submit the form there."): PageError {
  return new PageError(403, {
    title: "The form is out of date",
    message:
      "Somebody signed in or out in this browser after the form was shown, or the form did not come from this service, or the browser blocks cookies.",
    fix: `${fix} If that does not help, allow cookies for this site.`,
  });
}

/** For a form that only users who are signed in are shown. @throws {PageError} 403 */
export function refuseOutdated({ session }: Pick<PageVisit<never>, "session">): never {
  if (session !== null) throw outdatedForm();
  throw new PageError(403, {
    title: "You are signed out",
    message: "You were signed out before you sent the form, so it changed nothing.",
    fix: "Sign in again to go on.",
  });
}

/** For a second click, which comes with the session that the first one began. @throws {PageError} 403 in every other session, and without one */
export function requireBegun({ session }: Pick<PageVisit<never>, "session">, begun: NewCredential | null): void {
  if (begun === null || session?.hash.equals(begun.hash) !== true) throw outdatedForm();
}

function tokenSubject(deps: PageDeps, ctx: Context, session: PageSession | null): string {
  return session === null ? `visit ${visit(deps, ctx)}` : `session ${session.hash.toString("hex")}`;
}

/** The browser's visit id; creates one and sets its cookie if there is none. */
function visit(deps: PageDeps, ctx: Context): string {
  const known = (ctx.state["visit"] as string | undefined) ?? getCookie(deps, ctx, VISIT_COOKIE);
  if (known !== undefined && VISIT.test(known)) return known;
  const { text } = newCredential("visit");
  setCookie(deps, ctx, VISIT_COOKIE, text);
  ctx.state["visit"] = text;
  return text;
}

const NONCE_BYTES = 12;
const NONCE_LENGTH = (NONCE_BYTES / 3) * 4;

/** The token of a form: what makes it another one each time, and the signature of that together with the subject. */
function tokenOf({ key }: PageDeps, subject: string, nonce: string): string {
  return nonce + createHmac("sha256", key).update(`${nonce} ${subject}`).digest("base64url");
}
