import type { Context, Middleware, Next } from "koa";
import { renderErrorPage } from "../console/page.js";
import { ClientGoneError } from "../http/request/body.js";
import { ApiError, renderError, type ErrorDiagnostic } from "../http/errors.js";
import type { RequestOperation } from "./engine.js";
import type { CustomerChange } from "./population.js";

/** What a handler tells of a request beside its answer. */
interface Noted {
  /** What was sent, where the request is one that sends operations and could be read. */
  operations: readonly RequestOperation[];
  changes: readonly CustomerChange[];
  /** How many operations repeated an earlier one. */
  duplicates: number;
  /** Violations of the schema by what was accepted. */
  diagnostics: readonly ErrorDiagnostic[];
}

/** What a request came to, for whoever watches. */
export interface RequestReport extends Noted {
  requestId: string;
  method: string;
  path: string;
  status: number;
  error: ApiError | null;
}

/** Told of every request that could change something, and of every one that failed, before it is answered. */
export type Observe = (report: RequestReport) => void;

const NOTHING: Noted = { operations: [], changes: [], duplicates: 0, diagnostics: [] };

/** Adds to what the report of a request will say. */
export function note(ctx: Context, more: Partial<Noted>): void {
  ctx.state["noted"] = { ...noted(ctx), ...more };
}

function noted(ctx: Context): Noted {
  return (ctx.state["noted"] as Noted | undefined) ?? NOTHING;
}

/** What to do about refusals that do not say it themselves: here somebody is trying things out. */
const FIXES: Readonly<Record<string, string>> = {
  MALFORMED_JSON: "Send one JSON document, in UTF-8.",
  UNSUPPORTED_MEDIA_TYPE: "Add the header Content-Type: application/json.",
  NOT_FOUND: "GET / says what can be asked.",
  INTERNAL_ERROR: "This is a fault in svc: report it with what the terminal says.",
};

/** Errors become answers here and nowhere else, and every request is reported. */
export function reportAndAnswer(observe: Observe): Middleware {
  return async (ctx: Context, next: Next): Promise<void> => {
    const requestId = ctx.state["requestId"] as string;
    let error: ApiError | null = null;
    try {
      await next();
    } catch (thrown) {
      if (thrown instanceof ClientGoneError || ctx.req.socket.destroyed) return;
      error = withFix(thrown instanceof ApiError ? thrown : new ApiError(500, "INTERNAL_ERROR", { cause: thrown }));
      if (ctx.accepts("json", "html") === "html") renderErrorPage(ctx, error);
      else {
        ctx.status = error.status;
        ctx.set(error.headers);
        ctx.body = renderError(error, requestId, undefined);
      }
    }
    const { method, path, status } = ctx;
    if (error === null && method !== "POST" && method !== "DELETE") return;
    observe({ requestId, method, path, status, ...noted(ctx), error });
  };
}

function withFix(error: ApiError): ApiError {
  const fix = error.detail.fix ?? FIXES[error.code];
  if (fix === undefined || fix === error.detail.fix) return error;
  return new ApiError(error.status, error.code, { ...error.detail, fix, headers: error.headers, cause: error.cause });
}
