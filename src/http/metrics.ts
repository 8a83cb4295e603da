import { createHash, timingSafeEqual } from "node:crypto";
import type { Context, Middleware, Next } from "koa";
import type { ProcessMetrics } from "../metrics/process-metrics.js";
import { bearerToken } from "./request/credentials.js";
import { ApiError } from "./errors.js";
import type { Route } from "./route.js";

export interface MetricsDeps {
  /** SVC_METRICS_TOKEN; null if it is not set, and then every request is refused. */
  token: string | null;
  process: ProcessMetrics;
  /** Renders the metrics of the installation; also if the database does not answer. */
  installation: () => Promise<string>;
}

/** GET /metrics, for Prometheus: the metrics of this process, then those of the installation. */
export function metricsRoutes({ token, process, installation }: MetricsDeps): Route[] {
  const allows = tokenCheck(token);
  const handle = async (ctx: Context) => {
    if (!allows(bearerToken(ctx))) throw refused(token);
    const texts = await Promise.all([process.render(), installation()]);
    ctx.set("Content-Type", process.contentType);
    ctx.body = texts.join("\n");
  };
  return [{ method: "GET", path: "/metrics", handle }];
}

/** Compares digests, so that the time reveals neither the token's length nor how much of it was right. */
function tokenCheck(token: string | null): (sent: string | null) => boolean {
  if (token === null) return () => false;
  const digest = (text: string) => createHash("sha256").update(text).digest();
  const expected = digest(token);
  return (sent) => sent !== null && timingSafeEqual(digest(sent), expected);
}

function refused(token: string | null): ApiError {
  if (token !== null) return new ApiError(401, "INVALID_METRICS_TOKEN");
  return new ApiError(401, "INVALID_METRICS_TOKEN", {
    reason: "This process has no token for metrics.",
    fix: "Set SVC_METRICS_TOKEN for the service, start it again, and send `Authorization: Bearer <token>`.",
  });
}

/** Counts every request when its answer was sent or its client has disconnected. The route is the pattern that the router matched. */
export function countRequests(metrics: ProcessMetrics): Middleware {
  return async (ctx: Context, next: Next) => {
    const startedAt = performance.now();
    const { req, res } = ctx;
    res.once("close", () => {
      const route = (ctx as Context & { _matchedRoute?: string })._matchedRoute ?? "none";
      const status = res.writableFinished ? res.statusCode : null;
      metrics.answered(req.method ?? "", route, status, (performance.now() - startedAt) / 1000);
    });
    await next();
  };
}
