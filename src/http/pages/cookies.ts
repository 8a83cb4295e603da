import type { Context } from "koa";
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
