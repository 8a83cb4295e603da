import type { Context } from "koa";
import type { OAuthDeps } from "./oauth-route.js";

/**
 * What the service is called towards its clients, without a slash at the end: its public address. Where none was configured, the one that
 * this client came by, because clients compare: `http://localhost:4400` is none of `http://127.0.0.1:4400`.
 */
export function issuerOf({ publicUrl, anyHost }: Pick<OAuthDeps, "publicUrl" | "anyHost">, ctx: Context): string {
  const asked = `${ctx.protocol}://${ctx.host}`;
  return anyHost && URL.canParse(asked) ? new URL(asked).origin : publicUrl();
}
