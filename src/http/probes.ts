import type { Context } from "koa";
import { ApiError } from "./errors.js";
import type { Route } from "./route.js";

export interface ProbeChecks {
  /** Whether startup has completed. */
  started(): boolean;
  /** What keeps the process from serving, one short sentence each ("The database does not answer."); empty when it is ready. The
   * sentences are public. */
  unready(): Promise<readonly string[]>;
}

/** The health probes. They need no authentication. */
export function probeRoutes(checks: ProbeChecks): Route[] {
  const readiness = async (ctx: Context): Promise<void> => {
    if (!checks.started()) throw starting();
    const reasons = await checks.unready();
    if (reasons.length > 0) throw new ApiError(503, "SERVICE_UNAVAILABLE", { reason: reasons.join(" ") });
    ok(ctx);
  };
  return [
    { method: "GET", path: "/livez", handle: ok },
    {
      method: "GET",
      path: "/startupz",
      handle: (ctx) => {
        if (!checks.started()) throw starting();
        ok(ctx);
      },
    },
    { method: "GET", path: "/readyz", handle: readiness },
    { method: "GET", path: "/health", handle: readiness },
  ];
}

/** Nothing can be served yet. */
export function starting(): ApiError {
  return new ApiError(503, "SERVICE_UNAVAILABLE", { reason: "Startup has not completed." });
}

function ok(ctx: Context): void {
  ctx.body = { status: "ok" };
}
