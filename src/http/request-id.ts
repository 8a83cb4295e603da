import { randomUUID } from "node:crypto";
import type { Context, Next } from "koa";

/** 1 to 200 visible ASCII characters; everything else could harm a log or a header. */
const VALID = /^[\x21-\x7e]{1,200}$/;

/** A client's X-Request-ID if it is valid, else a new one. */
export function chooseRequestId(header: string | undefined): string {
  return header !== undefined && VALID.test(header) ? header : `req_${randomUUID().replaceAll("-", "")}`;
}

/** Gives every request an id (`ctx.state.requestId`) and every answer the header X-Request-ID. */
export async function assignRequestId(ctx: Context, next: Next): Promise<void> {
  const requestId = chooseRequestId(ctx.req.headers["x-request-id"] as string | undefined);
  ctx.state["requestId"] = requestId;
  ctx.set("X-Request-ID", requestId);
  await next();
}
