import type { Context, Middleware, Next } from "koa";
import type { Logger } from "pino";
import { ClientGoneError } from "./body.js";
import { type ApiError, type DocsUrl, type ErrorEnvelope, renderError, toApiError } from "./errors.js";

export interface ErrorHandlerOptions {
  log: Logger;
  /** Address of the documentation; without one, errors have no `docs`. */
  docsUrl?: DocsUrl;
}

/** The one place where errors become answers: the envelope for the client, the inner cause for the log only. */
export function handleErrors({ log, docsUrl }: ErrorHandlerOptions): Middleware {
  return async (ctx: Context, next: Next) => {
    const requestId = ctx.state["requestId"] as string;
    ctx.state["envelopeOf"] = (error: unknown) => {
      const answer = toApiError(error);
      recordFailure(log, ctx, answer);
      return renderError(answer, requestId, docsUrl);
    };
    try {
      await next();
    } catch (error) {
      const answer = toApiError(error);
      // Our own fault is one, also where nobody waits for the answer.
      if (!(error instanceof ClientGoneError)) recordFailure(log, ctx, answer);
      if (error instanceof ClientGoneError || ctx.req.socket.destroyed) {
        log.debug({ requestId, method: ctx.method, path: loggedPath(ctx) }, "the client went away");
        return;
      }
      ctx.status = answer.status;
      ctx.set(answer.headers);
      ctx.body = renderError(answer, requestId, docsUrl);
    }
  };
}

/** What a failure is to a client whose answer has begun already; it is logged as any other. */
export function envelopeOf(ctx: Context, error: unknown): ErrorEnvelope {
  return (ctx.state["envelopeOf"] as (error: unknown) => ErrorEnvelope)(error);
}

/** Logs a failure: our faults are errors, the database's absence is a warning, a client's mistake is nothing to wake anybody for. */
export function recordFailure(log: Logger, ctx: Context, answer: ApiError): void {
  const fields = {
    requestId: ctx.state["requestId"] as string,
    method: ctx.method,
    path: loggedPath(ctx),
    code: answer.code,
  };
  const { reason } = answer.detail;
  if (answer.status === 503) log.warn({ ...fields, reason, err: answer.cause }, "the request could not be served");
  else if (answer.status >= 500) log.error({ ...fields, err: answer.cause ?? answer }, "the request failed");
  else log.debug({ ...fields, status: answer.status, err: foreign(answer.cause) }, "the request was refused");
}

/** What the database refuses in our own words says nothing more to the log than its code, and may name a customer. */
function foreign(cause: unknown): unknown {
  return String((cause as { code?: unknown } | undefined)?.code).startsWith("SV") ? undefined : cause;
}

/** A request's path for the log. Who a customer is stays out of it: the log is kept when the customer has long been erased. */
function loggedPath({ path }: Context): string {
  return path.replace(/^(\/projects\/[^/]*\/customers\/)[^/]+/, "$1:customerId");
}
