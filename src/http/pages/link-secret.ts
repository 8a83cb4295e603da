import { getCookie, setCookie, clearCookie } from "./session.js";
import { queryText, type Visit } from "./page-route.js";
import { seeOther } from "./page.js";

const FORM = /^svc_link_[0-9a-f]{48}$/;

/** Long enough to sign in and come back. */
const SECONDS = 60 * 60;

/** The pages that links lead to, with the cookies of their secrets. */
const COOKIES = { "/invitation": "svc_invitation", "/password": "svc_password_link" } as const;

type LinkedPage = keyof typeof COOKIES;

/**
 * The secret of the link by which a browser came to a page; null where the browser was sent to the page again, without the secret in its
 * address: histories, screens and proxies keep addresses. From then on a cookie has it.
 */
export function openLinkSecret({ deps, ctx }: Visit<never>, page: LinkedPage): string | null {
  const secret = queryText(ctx, "token");
  if (secret === undefined) return getCookie(deps, ctx, COOKIES[page]) ?? "";
  if (!FORM.test(secret)) return secret; // nobody's link
  setCookie(deps, ctx, COOKIES[page], secret, SECONDS);
  seeOther(ctx, page);
  return null;
}

/** Takes the secret of a link that was used from the browser. */
export function forgetLinkSecret({ deps, ctx }: Visit<never>, page: LinkedPage): void {
  clearCookie(deps, ctx, COOKIES[page]);
}
