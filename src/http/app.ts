import Router from "@koa/router";
import Koa from "koa";
import type { Logger } from "pino";
import { adminRoutes, type AdminDeps } from "./admin/routes.js";
import { handleErrors } from "./handle-errors.js";
import { probeRoutes, type ProbeChecks } from "./probes.js";
import { assignRequestId } from "./request-id.js";
import type { Route } from "./route.js";
import { setSecurityHeaders } from "./security-headers.js";
import { refuseUnmatched } from "./unmatched.js";

export interface AppDeps {
  log: Logger;
  /** SVC_DOCS_URL without a trailing slash. */
  docsUrl?: string | undefined;
  probes: ProbeChecks;
  admin: AdminDeps;
  /** Routes of the other parts, for example ingestion. */
  routes?: readonly Route[];
}

/** The whole HTTP surface. The composition of routes is here and nowhere else. */
export function createApp(deps: AppDeps): Koa {
  const app = new Koa();
  const router = new Router({ strict: true, sensitive: true });
  for (const route of [...probeRoutes(deps.probes), ...(deps.routes ?? []), ...adminRoutes(deps.admin)]) {
    router.register(route.path, [route.method], (ctx) => route.handle(ctx));
  }
  app.use(assignRequestId);
  app.use(setSecurityHeaders);
  app.use(handleErrors(deps));
  app.use(router.routes());
  app.use(refuseUnmatched(router));
  // Failures while an answer is being sent; everything else was handled above.
  app.on("error", (err: unknown) => deps.log.debug({ err }, "an answer could not be sent"));
  return app;
}
