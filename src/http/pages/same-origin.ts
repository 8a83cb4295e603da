import type { Context } from "koa";
import type { PageDeps } from "./deps.js";
import { PageError } from "./page-error.js";

/**
 * Makes sure that a form was sent from a page of ours: by the header Origin, which every browser of today sends with a form; where it is
 * missing, by Sec-Fetch-Site or Referer.
 *
 * @throws {PageError} 403, also where a request has none of the three.
 */
export function requireSameOrigin(deps: PageDeps, ctx: Context): void {
  if (isFromUs(deps, ctx)) return;
  const ours = new URL(deps.publicUrl()).origin;
  throw new PageError(403, {
    title: "The form came from elsewhere",
    message: `The form was not sent from a page of ${ours}, so nothing was done.`,
    fix: `Open the page at ${ours} and send the form from there. If this is not the address at which you reach this service, ask its operator to set SVC_PUBLIC_URL to the right one.`,
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
