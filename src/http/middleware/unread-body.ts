import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context, Next } from "koa";
import { bodyIsHeldBack, isStopping } from "../server.js";

const MIB = 1024 * 1024;
const DISCARDED_BYTES_MAX = 128 * MIB;
const DISCARDING_MS_MAX = 5_000;

/**
 * Reads and throws away what a request that was answered early still sends, up to a bound: a connection that is closed with unread bytes
 * is reset, and a client that was still sending, or the proxy before us, would find no answer but a broken connection.
 */
export async function discardUnread(ctx: Context, next: Next): Promise<void> {
  await next();
  // Who sends too slowly is not waited for.
  if (ctx.status === 408 || !isInTheWay(ctx.req, ctx.res)) return;
  await discard(ctx.req);
  if (!ctx.req.complete) ctx.set("Connection", "close");
}

/** Node.js itself discards a body that nobody began to read, but only where the connection stays open. */
function isInTheWay(request: IncomingMessage, { shouldKeepAlive }: ServerResponse): boolean {
  if (request.destroyed || request.readableEnded || bodyIsHeldBack(request)) return false;
  return request.readableDidRead || (!request.complete && (!shouldKeepAlive || isStopping(request)));
}

/** Resolves when the client has sent everything, or so much or so slowly that the connection is better closed. */
function discard(request: IncomingMessage): Promise<void> {
  return new Promise<void>((resolve) => {
    const late = setTimeout(resolve, DISCARDING_MS_MAX);
    const end = (): void => {
      clearTimeout(late);
      resolve();
    };
    let length = 0;
    request.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > DISCARDED_BYTES_MAX) end();
    });
    for (const event of ["end", "error", "close"] as const) request.once(event, end);
    request.resume();
  });
}
