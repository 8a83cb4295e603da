import type { Context, Next } from "koa";
import { ApiError } from "./errors.js";

/** HTTP/1.1 prescribes a 400 for a request without the header Host, and for one with several: a proxy before us may have gone by another. */
export async function requireHost(ctx: Context, next: Next): Promise<void> {
  if (ctx.req.headers.host === undefined && ctx.req.httpVersion === "1.1") {
    throw new ApiError(400, "VALIDATION_ERROR", {
      message: "The request has no header Host.",
      fix: "Send the header Host, as HTTP/1.1 prescribes.",
    });
  }
  if (hasSeveralHosts(ctx.req.rawHeaders)) {
    throw new ApiError(400, "VALIDATION_ERROR", {
      message: "The request has several headers Host.",
      fix: "Send the header Host once, as HTTP/1.1 prescribes.",
    });
  }
  await next();
}

/** @param raw names and values by turns */
function hasSeveralHosts(raw: readonly string[]): boolean {
  let hosts = 0;
  for (let at = 0; at < raw.length; at += 2) {
    if (raw[at]!.length === 4 && raw[at]!.toLowerCase() === "host") hosts += 1;
  }
  return hosts > 1;
}
