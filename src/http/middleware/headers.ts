import { randomUUID } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Context, Next } from "koa";
import { ApiError } from "../errors.js";

/** 1 to 200 visible ASCII characters; everything else could harm a log or a header. */
const VALID = /^[\x21-\x7e]{1,200}$/;

/** The X-Request-ID of a request if it is valid, else a new id, as for a request that could not be read. */
export function chooseRequestId(request?: IncomingMessage): string {
  const header = request?.headers["x-request-id"];
  return typeof header === "string" && VALID.test(header) ? header : `req_${randomUUID().replaceAll("-", "")}`;
}

/** Gives every request an id (`ctx.state.requestId`) and every answer the header X-Request-ID. */
export async function assignRequestId(ctx: Context, next: Next): Promise<void> {
  const requestId = chooseRequestId(ctx.req);
  ctx.state["requestId"] = requestId;
  ctx.set("X-Request-ID", requestId);
  await next();
}

/** HTTP/1.1 prescribes a 400 for a request without a header Host or with several: a proxy in front of us may have used a different one. */
export async function requireHost(ctx: Context, next: Next): Promise<void> {
  const { length: hosts } = ctx.req.headersDistinct["host"] ?? [];
  const isMissing = hosts === 0 && ctx.req.httpVersion === "1.1";
  if (isMissing || hosts > 1) {
    throw new ApiError(400, "VALIDATION_ERROR", {
      message: `The request has ${isMissing ? "no header" : "several headers"} Host.`,
      fix: `Send the header Host${isMissing ? "" : " once"}, as HTTP/1.1 prescribes.`,
    });
  }
  await next();
}

/** Refuses an address that cannot be read, such as `http://[::1/`: whatever asked for its path would fail. */
export async function requireAddress(ctx: Context, next: Next): Promise<void> {
  try {
    void ctx.path;
  } catch {
    // The answer depends on the path, too.
    ctx.req.url = "/";
    throw new ApiError(400, "VALIDATION_ERROR", {
      message: "The request is not valid HTTP.",
      reason: "Its address cannot be read.",
      fix: "Send a request in the form that HTTP/1.1 prescribes.",
    });
  }
  await next();
}

/** Answers are data for programs: browsers must not sniff, frame, cache or render them as a page. */
export const SECURITY_HEADERS = {
  "Cache-Control": "no-store",
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'",
  "Cross-Origin-Resource-Policy": "same-origin",
  "Referrer-Policy": "no-referrer",
  "X-Content-Type-Options": "nosniff",
};

export async function setSecurityHeaders(ctx: Context, next: Next): Promise<void> {
  ctx.set(SECURITY_HEADERS);
  await next();
}
