import type Router from "@koa/router";
import type { Context, Middleware, Next } from "koa";
import { ApiError, type DocsUrl, type ErrorEnvelope, renderError, toApiError } from "../errors.js";
import { ClientGoneError } from "../request/body.js";
import { refusalOf } from "../request/tracking-calls.js";
import { addToLogLine } from "./request-log.js";

/** Refuses requests that matched no route: 404 for an unknown path, 405 for a method that the path does not have. */
export function refuseUnmatched(router: Router) {
  return (ctx: Context): never => {
    const { path } = router.match(ctx.path, ctx.method);
    if (path.length === 0) throw new ApiError(404, "NOT_FOUND");
    const methods = [...new Set(path.flatMap((layer) => layer.methods))].sort().join(", ");
    throw new ApiError(405, "METHOD_NOT_ALLOWED", { fix: `Use ${methods}.`, headers: { Allow: methods } });
  };
}

/** Answers a request with an error page. */
export type RenderError = (ctx: Context, error: unknown) => void;

/**
 * The only place where errors become answers: the envelope for programs, `renderPage` for browsers; the cause is only logged. Without `docsUrl`
 * errors have no `docs`.
 */
export function handleErrors(docsUrl?: DocsUrl, renderPage?: RenderError): Middleware {
  return async (ctx: Context, next: Next) => {
    const requestId = ctx.state["requestId"] as string;
    ctx.state["envelopeOf"] = (error: unknown) => {
      const answer = toApiError(error);
      addToLogLine(ctx, { failure: answer });
      return renderError(answer, requestId, docsUrl);
    };
    try {
      await next();
    } catch (error) {
      const answer = toApiError(error);
      const isClientGone = error instanceof ClientGoneError;
      // A failure of the service is logged even if the client has disconnected.
      if (!isClientGone) addToLogLine(ctx, { failure: answer });
      if (isClientGone || ctx.req.socket.destroyed) addToLogLine(ctx, { clientGone: true });
      else if (renderPage !== undefined && isVisit(ctx)) renderPage(ctx, answer);
      else {
        ctx.status = answer.status;
        ctx.set(answer.headers);
        ctx.body = refusalOf(ctx, answer, docsUrl);
      }
    }
  };
}

/** Whether a person opened an address in a browser: programs send an Authorization header, or do not prefer HTML. */
function isVisit(ctx: Context): boolean {
  return ctx.method === "GET" && ctx.get("Authorization") === "" && ctx.accepts("json", "html") === "html";
}

/** The envelope of a failure after the answer has begun; the failure is also recorded for the request's log line. */
export function envelopeOf(ctx: Context, error: unknown): ErrorEnvelope {
  return (ctx.state["envelopeOf"] as (error: unknown) => ErrorEnvelope)(error);
}
