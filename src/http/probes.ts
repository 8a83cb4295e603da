import type { Context } from "koa";
import { ApiError, type FailedCheck } from "./errors.js";
import type { Route } from "./route.js";

export interface ProbeChecks {
  /** Whether startup has completed. */
  started(): boolean;
  /** The checks that keep the process from serving; none if it is ready. Their names and messages are public. */
  unready(): Promise<readonly FailedCheck[]>;
}

/** The health probes, which need no authentication. As in Kubernetes' own probes, `exclude` names checks that readiness ignores. */
export function probeRoutes(checks: ProbeChecks): Route[] {
  const startup = (ctx: Context): void => {
    if (!checks.started()) throw unready([STARTING]);
    ok(ctx);
  };
  const readiness = async (ctx: Context): Promise<void> => {
    if (!checks.started()) throw unready([STARTING]);
    const excluded = [ctx.query["exclude"] ?? []].flat();
    const failed = (await checks.unready()).filter(({ name }) => !excluded.includes(name));
    if (failed.length > 0) throw unready(failed);
    ok(ctx);
  };
  return [
    { method: "GET", path: "/livez", handle: ok },
    { method: "GET", path: "/startupz", handle: startup },
    { method: "GET", path: "/readyz", handle: readiness },
    { method: "GET", path: "/health", handle: readiness },
  ];
}

const STARTING: FailedCheck = { name: "startup", message: "Startup has not completed." };

/** Refuses every request during startup. */
export function refuseWhileStarting(): never {
  throw new ApiError(503, "SERVICE_UNAVAILABLE", { reason: STARTING.message });
}

function unready(checks: readonly FailedCheck[]): ApiError {
  const reason = checks.map(({ message }) => message).join(" ");
  return new ApiError(503, "SERVICE_UNAVAILABLE", { reason, checks });
}

function ok(ctx: Context): void {
  ctx.body = { status: "ok" };
}
