import type { Context, Next } from "koa";
import { ApiError } from "./errors.js";

/** HTTP/1.1 prescribes a 400 for a request without the header Host. */
export async function requireHost(ctx: Context, next: Next): Promise<void> {
  if (ctx.req.headers.host === undefined && ctx.req.httpVersion === "1.1") {
    throw new ApiError(400, "VALIDATION_ERROR", {
      message: "The request has no header Host.",
      fix: "Send the header Host, as HTTP/1.1 prescribes.",
    });
  }
  await next();
}
