import type Router from "@koa/router";
import type { Context, Middleware, Next } from "koa";
import { ApiError, type DocsUrl, type ErrorEnvelope, renderError, toApiError } from "../errors.js";
import { ClientGoneError } from "../request/body.js";
import { noteInLog } from "./request-log.js";

/** What no route took: 404 for a path that none has, 405 for a method that the path's routes do not have. */
export function refuseUnmatched(router: Router) {
  return (ctx: Context): never => {
    const { path } = router.match(ctx.path, ctx.method);
    if (path.length === 0) throw new ApiError(404, "NOT_FOUND");
    const methods = [...new Set(path.flatMap((layer) => layer.methods))].sort().join(", ");
    throw new ApiError(405, "METHOD_NOT_ALLOWED", { fix: `Use ${methods}.`, headers: { Allow: methods } });
  };
}

/** Answers a request with a page that says what failed. */
export type RenderError = (ctx: Context, error: unknown) => void;

/**
 * The one place where errors become answers: the envelope for programs, `renderPage` for browsers, the cause for the log only. Without `docsUrl`
 * errors have no `docs`.
 */
export function handleErrors(docsUrl?: DocsUrl, renderPage?: RenderError): Middleware {
  return async (ctx: Context, next: Next) => {
    const requestId = ctx.state["requestId"] as string;
    ctx.state["envelopeOf"] = (error: unknown) => {
      const answer = toApiError(error);
      noteInLog(ctx, { failure: answer });
      return renderError(answer, requestId, docsUrl);
    };
    try {
      await next();
    } catch (error) {
      const answer = toApiError(error);
      const left = error instanceof ClientGoneError;
      // Our own fault is one, also where nobody waits for the answer.
      if (!left) noteInLog(ctx, { failure: answer });
      if (left || ctx.req.socket.destroyed) noteInLog(ctx, { clientGone: true });
      else if (renderPage !== undefined && isVisit(ctx)) renderPage(ctx, answer);
      else {
        ctx.status = answer.status;
        ctx.set(answer.headers);
        ctx.body = renderError(answer, requestId, docsUrl);
      }
    }
  };
}

/** Whether somebody opened an address in a browser: programs say who they are, or do not prefer pages. */
function isVisit(ctx: Context): boolean {
  return ctx.method === "GET" && ctx.get("Authorization") === "" && ctx.accepts("json", "html") === "html";
}

/** What a failure is to a client whose answer has begun already; the request's line of the log tells it. */
export function envelopeOf(ctx: Context, error: unknown): ErrorEnvelope {
  return (ctx.state["envelopeOf"] as (error: unknown) => ErrorEnvelope)(error);
}
