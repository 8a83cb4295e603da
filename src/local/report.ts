import type { Context, Middleware, Next } from "koa";
import { renderErrorPage } from "../console/page.js";
import { ClientGoneError } from "../http/request/body.js";
import { ApiError, type ErrorDiagnostic } from "../http/errors.js";
import { refusalOf } from "../http/request/tracking-calls.js";
import type { RequestOperation } from "./engine.js";
import type { CustomerChange } from "./population.js";

/** What a handler reports about a request besides its answer. */
interface Noted {
  /** The operations that were sent, if the request sends any and could be read. */
  operations: readonly RequestOperation[];
  changes: readonly CustomerChange[];
  /** How many operations repeated an earlier one. */
  duplicates: number;
  /** Schema violations of accepted operations. */
  diagnostics: readonly ErrorDiagnostic[];
}

/** A request and its outcome, for display in the terminal. */
export interface RequestReport extends Noted {
  requestId: string;
  method: string;
  path: string;
  status: number;
  error: ApiError | null;
}

/** Called for every request that could change something, and for every failed one, before it is answered. */
export type Observe = (report: RequestReport) => void;

const NOTHING: Noted = { operations: [], changes: [], duplicates: 0, diagnostics: [] };

/** Adds to the report of a request. */
export function addToReport(ctx: Context, more: Partial<Noted>): void {
  ctx.state["noted"] = { ...noted(ctx), ...more };
}

function noted(ctx: Context): Noted {
  return (ctx.state["noted"] as Noted | undefined) ?? NOTHING;
}

/** Fixes for errors that have none of their own; here they help someone who is trying things out. */
const FIXES: Readonly<Record<string, string>> = {
  MALFORMED_JSON: "Send one JSON document, in UTF-8.",
  UNSUPPORTED_MEDIA_TYPE: "Add the header Content-Type: application/json.",
  NOT_FOUND: "GET / lists the requests that are answered.",
  INTERNAL_ERROR: "This is a bug in svc: report it with the output in the terminal.",
};

/** The only place where errors become answers; it also reports requests to `observe`. */
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
        ctx.body = refusalOf(ctx, error, undefined);
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
