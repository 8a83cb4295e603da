import { createHmac, hkdfSync, timingSafeEqual } from "node:crypto";
import type { Context } from "koa";
import type { VNode } from "preact";
import { newCredential } from "../http/request/credentials.js";
import { PageError } from "./page.js";
import { getCookie, type PageDeps, type PageSession, setCookie, VISIT_COOKIE } from "./session.js";

/** The hidden field that every form carries. */
export const TOKEN_FIELD = "form_token";

const VISIT = /^svc_visit_[0-9a-f]{48}$/;

/** The key that signs the tokens of forms, derived from the service's SVC_SECRET. Derive it once. */
export function formKey(serviceSecret: string): Buffer {
  // The purpose is bound into the key, so that SVC_SECRET can serve others without one key ever serving two.
  return Buffer.from(hkdfSync("sha256", serviceSecret, "", "svc form tokens", 32));
}

/** The hidden field of a form on a page that is shown to this browser. May set the cookie that it is bound to. */
export function tokenField(deps: PageDeps, ctx: Context, session: PageSession | null): VNode {
  return <input type="hidden" name={TOKEN_FIELD} value={sign(deps, boundTo(deps, ctx, session))} />;
}

/** Makes sure that a form stood on a page that we showed to this browser, to whoever is signed in now. Throws a PageError (403). */
export function requireToken(deps: PageDeps, ctx: Context, session: PageSession | null, token: string | undefined) {
  const expected = Buffer.from(sign(deps, boundTo(deps, ctx, session)));
  const given = Buffer.from(token ?? "");
  if (given.length === expected.length && timingSafeEqual(given, expected)) return;
  throw new PageError(403, {
    title: "The form is out of date",
    message:
      "The form was shown before somebody signed in or out in this browser, or it was not shown by this service, or the browser keeps no cookies.",
    fix: "Open the page again and send the form anew. If that does not help, allow cookies for this site.",
  });
}

function boundTo(deps: PageDeps, ctx: Context, session: PageSession | null): string {
  return session === null ? `visit ${visit(deps, ctx)}` : `session ${session.hash.toString("hex")}`;
}

/** The browser's visit; a new one where it has none. */
function visit(deps: PageDeps, ctx: Context): string {
  const known = (ctx.state["visit"] as string | undefined) ?? getCookie(deps, ctx, VISIT_COOKIE);
  if (known !== undefined && VISIT.test(known)) return known;
  const { text } = newCredential("visit");
  setCookie(deps, ctx, VISIT_COOKIE, text);
  ctx.state["visit"] = text;
  return text;
}

function sign({ key }: PageDeps, text: string): string {
  return createHmac("sha256", key).update(text).digest("base64url");
}
