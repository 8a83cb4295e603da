import { Stream } from "node:stream";
import type { Context, Middleware, Next } from "koa";
import type { Logger } from "pino";
import { earlyRefusal } from "../client-error.js";
import { isRefusal } from "../../db/sqlstate.js";
import type { ApiError } from "../errors.js";

/** What the log line of a request records while it is answered; `ctx.state.logged`. */
interface Logged {
  /** How it failed. */
  failure?: ApiError;
  /** The client disconnected before it was answered. */
  clientGone?: boolean;
  /** Number of accepted operations. */
  operations?: number;
  /** Id of the organization in which the request acts. */
  organization?: string;
}

/** The codes of refusals by which the organization of a request is not known. */
const NO_ACCESS: ReadonlySet<string> = new Set(["INVALID_SESSION", "INVALID_API_KEY", "ORGANIZATION_NOT_FOUND"]);

/** Routes that machines request every few seconds. */
const QUIET_ROUTES: ReadonlySet<string> = new Set(["/livez", "/startupz", "/readyz", "/health", "/metrics"]);

/**
 * Writes one line for each request: at `error` if the service failed, at `warn` if something that it needs failed, such as the database, at
 * `debug` for a successful probe, otherwise at `info`. The line has the route's pattern, and never the path, query or body, which can identify
 * customers. It is written before the client has the answer, or at the end of a streamed answer.
 */
export function logRequests(log: Logger): Middleware {
  // The fields below contain no secrets. Searching them for names of secrets would cost several times as much as writing the line.
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
    // A client that disconnected before the stream began has already closed it.
    if (ctx.res.closed || ctx.req.socket.destroyed) end();
    else ctx.res.once("close", end);
  };
}

/** Records something for the request's log line. It does not influence the answer. */
export function addToLogLine(ctx: Context, noted: Logged): void {
  Object.assign(loggedOf(ctx), noted);
}

/** In an application without a log, an object that is never read. */
function loggedOf({ state }: Context): Logged {
  return (state["logged"] ??= {}) as Logged;
}

function writeLine(log: Logger, plain: Logger, ctx: Context, ms: number): void {
  const { operations, organization, ...logged } = loggedOf(ctx);
  // `midway` is what the client received, whatever the application was about to answer; but a failure of the service takes precedence.
  const midway = earlyRefusal(ctx.req);
  const failure = (logged.failure?.status ?? 0) >= 500 ? logged.failure : (midway ?? logged.failure);
  const clientGone = (midway === undefined && (logged.clientGone || ctx.req.socket.destroyed)) || undefined;
  const fields = {
    requestId: ctx.state["requestId"] as string,
    method: ctx.method,
    // The pattern of the route that matched; undefined if none did.
    route: (ctx as Context & { _matchedRoute?: string })._matchedRoute,
    // A request that was never answered has no status.
    status: midway?.status ?? (logged.clientGone && !ctx.headerSent ? undefined : ctx.status),
    durationMs: Math.round(ms * 10) / 10,
    operations,
    // Whoever has no access may have named any.
    organization: failure !== undefined && NO_ACCESS.has(failure.code) ? undefined : organization,
    code: failure?.code,
    clientGone,
  };
  if (failure === undefined) {
    if (fields.status === undefined) plain.info(fields, "the client closed the connection");
    else if (QUIET_ROUTES.has(fields.route ?? "") && fields.status < 400)
      plain.debug(fields, "the request was answered");
    else plain.info(fields, fields.status < 400 ? "the request was answered" : "the request was refused");
  } else if (failure.status > 500 && isRefusal(failure.cause)) {
    plain.info({ ...fields, reason: "The environment is frozen." }, "the request was refused");
  } else if (failure.status > 500) {
    const why = { reason: failure.detail.reason, err: failure.cause };
    log.warn({ ...fields, ...why }, "the request failed: something that it needs is unavailable or overloaded");
  } else if (failure.status >= 500) log.error({ ...fields, err: failure.cause ?? failure }, "the request failed");
  // Without the cause, which may quote the request.
  else plain.info(fields, "the request was refused");
}
