import type { IncomingMessage, ServerResponse } from "node:http";
import type { Context, Next } from "koa";
import { awaitsContinue, isStopping } from "../server.js";

const MIB = 1024 * 1024;
const DISCARDED_BYTES_MAX = 128 * MIB;
const DISCARDING_MS_MAX = 5_000;

/**
 * Reads and discards, up to a limit, what a request still sends after it was answered early. A connection that is closed with unread bytes is
 * reset, so a client that was still sending, or the proxy in front of us, would not see the answer but a broken connection.
 */
export async function discardUnread(ctx: Context, next: Next): Promise<void> {
  await next();
  // Do not wait for clients that were too slow already.
  if (ctx.status === 408 || !isInTheWay(ctx.req, ctx.res)) return;
  await discard(ctx.req);
  if (!ctx.req.complete) ctx.set("Connection", "close");
}

/** Whether unread bytes must be discarded here. Node.js itself discards a body of which nothing was read, but only if the connection stays open. */
function isInTheWay(request: IncomingMessage, { shouldKeepAlive }: ServerResponse): boolean {
  if (request.destroyed || request.readableEnded || awaitsContinue(request)) return false;
  return request.readableDidRead || (!request.complete && (!shouldKeepAlive || isStopping(request)));
}

/** Resolves when the client has sent everything, or exceeded the limit of bytes or time, so that the connection is better closed. */
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
