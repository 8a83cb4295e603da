import { Stream } from "node:stream";
import type { Context, Middleware, Next } from "koa";
import type { Logger } from "pino";
import { refusedMidway } from "../client-error.js";
import { isRefusal } from "../../db/sqlstate.js";
import type { ApiError } from "../errors.js";

/** What becomes known of a request while it is answered, for its line; `ctx.state.logged`. */
interface Logged {
  /** How it failed. */
  failure?: ApiError;
  /** The client went away before it was answered. */
  clientGone?: boolean;
  /** Operations that were accepted. */
  operations?: number;
}

/** Asked for every few seconds, by machines. */
const QUIET_ROUTES: ReadonlySet<string> = new Set(["/livez", "/startupz", "/readyz", "/health", "/metrics"]);

/**
 * Writes one line for each request: at `info` unless it failed by our fault (`error`) or for want of what it needs, as the database
 * (`warn`), at `debug` for a probe that succeeded. It names the route's pattern and never the path, the query or anything of a body: those
 * tell who a customer is. The line is there before its client has the answer, but for a body that is a stream, whose line follows its end.
 */
export function logRequests(log: Logger): Middleware {
  // The fields below are ours and hold no secret: looking through them for names of secrets would cost several times what the line costs.
  const plain = log.child({}, { redact: [] });
  return async (ctx: Context, next: Next) => {
    const startedAt = performance.now();
    const logged: Logged = {};
    ctx.state["logged"] = logged;
    await next();
    const write = () => writeLine(log, plain, ctx, performance.now() - startedAt);
    if (!(ctx.body instanceof Stream)) {
      write();
      return;
    }
    const end = () => {
      if (!ctx.res.writableFinished) logged.clientGone = true;
      write();
    };
    // Who went away before the stream began has closed it already.
    if (ctx.res.closed || ctx.req.socket.destroyed) end();
    else ctx.res.once("close", end);
  };
}

/** Has the request's line say it. What the client is told is not decided here. */
export function noteInLog(ctx: Context, what: Logged): void {
  Object.assign(loggedOf(ctx), what);
}

/** Of an application without a log, one that nobody reads. */
function loggedOf({ state }: Context): Logged {
  return (state["logged"] ??= {}) as Logged;
}

function writeLine(log: Logger, plain: Logger, ctx: Context, ms: number): void {
  const { operations, ...logged } = loggedOf(ctx);
  // This is what the client was told, whatever we were about to answer. Our own fault is one all the same.
  const midway = refusedMidway(ctx.req);
  const failure = (logged.failure?.status ?? 0) >= 500 ? logged.failure : (midway ?? logged.failure);
  const clientGone = (midway === undefined && (logged.clientGone || ctx.req.socket.destroyed)) || undefined;
  const fields = {
    requestId: ctx.state["requestId"] as string,
    method: ctx.method,
    // The pattern of the route that took the request; undefined where none did.
    route: (ctx as Context & { _matchedRoute?: string })._matchedRoute,
    // Of a request that never came to its end there is none.
    status: midway?.status ?? (logged.clientGone && !ctx.headerSent ? undefined : ctx.status),
    durationMs: Math.round(ms * 10) / 10,
    operations,
    code: failure?.code,
    clientGone,
  };
  if (failure === undefined) {
    if (fields.status === undefined) plain.info(fields, "the client closed the connection");
    else if (QUIET_ROUTES.has(fields.route ?? "") && fields.status < 400)
      plain.debug(fields, "the request was answered");
    else plain.info(fields, fields.status < 400 ? "the request was answered" : "the request was refused");
  } else if (failure.status > 500 && isRefusal(failure.cause)) plain.info(fields, "the request was refused");
  else if (failure.status > 500) {
    const why = { reason: failure.detail.reason, err: failure.cause };
    log.warn({ ...fields, ...why }, "the request failed: something that it needs is unavailable or overloaded");
  } else if (failure.status >= 500) log.error({ ...fields, err: failure.cause ?? failure }, "the request failed");
  // Without its cause, which may quote what was sent.
  else plain.info(fields, "the request was refused");
}
