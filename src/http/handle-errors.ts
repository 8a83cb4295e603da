import type { Context, Middleware, Next } from "koa";
import type { Logger } from "pino";
import { ClientGoneError } from "./body.js";
import { type ApiError, type DocsUrl, renderError, toApiError } from "./errors.js";

export interface ErrorHandlerOptions {
  log: Logger;
  /** Address of the documentation; without one, errors have no `docs`. */
  docsUrl?: DocsUrl;
}

/** The one place where errors become answers: the envelope for the client, the inner cause for the log only. */
export function handleErrors({ log, docsUrl }: ErrorHandlerOptions): Middleware {
  return async (ctx: Context, next: Next) => {
    try {
      await next();
    } catch (error) {
      const answer = toApiError(error);
      // Our own fault is one, also where nobody waits for the answer.
      if (!(error instanceof ClientGoneError)) record(log, ctx, answer);
      if (error instanceof ClientGoneError || ctx.req.socket.destroyed) {
        log.debug(
          { requestId: ctx.state["requestId"] as string, method: ctx.method, path: ctx.path },
          "the client went away",
        );
        return;
      }
      ctx.status = answer.status;
      ctx.set(answer.headers);
      ctx.body = renderError(answer, ctx.state["requestId"] as string, docsUrl);
    }
  };
}

/** Our faults are errors, the database's absence is a warning, a client's mistake is nothing to wake anybody for. */
function record(log: Logger, ctx: Context, answer: ApiError): void {
  const fields = { requestId: ctx.state["requestId"] as string, method: ctx.method, path: ctx.path, code: answer.code };
  const { reason } = answer.detail;
  if (answer.status === 503) log.warn({ ...fields, reason, err: answer.cause }, "the request could not be served");
  else if (answer.status >= 500) log.error({ ...fields, err: answer.cause ?? answer }, "the request failed");
  else log.debug({ ...fields, status: answer.status, err: answer.cause }, "the request was refused");
}
