import Router from "@koa/router";
import Koa from "koa";
import type { Logger } from "pino";
import type { AdminDeps, OperationRoute } from "./admin/route.js";
import { adminRoutes } from "./admin/routes.js";
import { TokenUse } from "./admin/token-use.js";
import { BodyBudget, limitBodies } from "./request/body-budget.js";
import type { DocsUrl } from "./errors.js";
import { handleErrors, refuseUnmatched, type RenderError } from "./middleware/handle-errors.js";
import { readLargeBodies } from "./request/large-bodies.js";
import { countRequests, metricsRoutes, type MetricsDeps } from "./metrics.js";
import type { OAuthDeps } from "./oauth/oauth-route.js";
import { oauthRoutes } from "./oauth/routes.js";
import { openApiRoutes } from "./openapi/routes.js";
import { probeRoutes, refuseWhileStarting, type ProbeChecks } from "./probes.js";
import { assignRequestId, requireHost, setSecurityHeaders } from "./middleware/headers.js";
import { logRequests } from "./middleware/request-log.js";
import type { Route } from "./route.js";
import { discardUnread } from "./middleware/unread-body.js";

export interface AppDeps {
  log: Logger;
  docsUrl?: DocsUrl;
  probes: ProbeChecks;
  metrics: MetricsDeps;
  admin: AdminDeps;
  oauth: OAuthDeps;
  /** The pages for people, which ask the operations that the administrative API has. */
  pages: Pages;
  /** SVC_TRUSTED_PROXIES: how many proxies in front of us say where a request came from; none unless given. */
  trustedProxies?: number;
  /** How many bytes of request bodies the process may hold; 192 MiB unless given. */
  bodyBytesMax?: number;
  /** Routes of the other parts, for example ingestion. */
  routes?: readonly Route[];
}

export interface Pages {
  routes(operations: readonly OperationRoute[]): readonly Route[];
  /** Answers a browser's request that failed. */
  renderError: RenderError;
}

/** Two of the largest batches; what a body becomes when it is parsed is several times as large, but only one is parsed at a time. */
const BODY_BYTES_MAX = 192 * 1024 * 1024;

/** The whole HTTP surface. The composition of routes is here and nowhere else. */
export function createApp(deps: AppDeps): Koa {
  const app = createBareApp(deps);
  // Each proxy appends to X-Forwarded-For where it got the request from; what stands before those is the client's own say.
  const { trustedProxies = 0 } = deps;
  Object.assign(app, { proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  const bodies = new BodyBudget(deps.bodyBytesMax ?? BODY_BYTES_MAX);
  const figures = () => ({ held: bodies.held, limit: bodies.bytesMax });
  const help = "Bytes of request bodies held in memory, and the limit.";
  deps.metrics.process.gauge("svc_request_body_bytes", help, "bytes", figures);
  app.use(limitBodies(bodies));
  app.use(readLargeBodies());
  const router = routerOf(appRoutes(deps));
  app.use(router.routes());
  app.use(refuseUnmatched(router));
  return app;
}

/** Every route of the surface. */
export function appRoutes(deps: AppDeps): Route[] {
  const tokenUse = new TokenUse(deps.admin.sql, deps.log);
  const operations = adminRoutes(deps.admin);
  const routes = [
    ...probeRoutes(deps.probes),
    ...metricsRoutes(deps.metrics),
    ...deps.pages.routes(operations),
    ...oauthRoutes(deps.oauth),
    ...(deps.routes ?? []),
    ...operations.map((route) => tokenUse.count(route)),
  ];
  return [...routes, ...openApiRoutes({ publicUrl: deps.oauth.publicUrl, routes })];
}

/** What is answered until the whole surface is there: the process lives, has not started, and takes nothing yet. */
export function createStartingApp(deps: BareDeps): Koa {
  const app = createBareApp(deps);
  const notYet = { started: () => false, unready: () => Promise.resolve([]) };
  app.use(routerOf([...probeRoutes(notYet), ...metricsRoutes(deps.metrics)]).routes());
  app.use(refuseWhileStarting);
  return app;
}

type BareDeps = Pick<AppDeps, "log" | "docsUrl" | "metrics"> & { pages?: Pages };

/** What every answer has, whatever is answered. */
function createBareApp({ log, docsUrl, metrics, pages }: BareDeps): Koa {
  const app = new Koa();
  app.use(countRequests(metrics.process));
  app.use(assignRequestId);
  app.use(logRequests(log));
  app.use(setSecurityHeaders);
  app.use(discardUnread);
  app.use(handleErrors(docsUrl, pages?.renderError));
  app.use(requireHost);
  // Failures while an answer is being sent; everything else was handled above.
  app.on("error", (err: unknown) => log.debug({ err }, "an answer could not be sent"));
  return app;
}

function routerOf(routes: readonly Route[]): Router {
  const router = new RememberingRouter({ strict: true, sensitive: true });
  for (const route of routes) router.register(route.path, [route.method], (ctx) => route.handle(ctx));
  router.remember(routes);
  return router;
}

/** A router that compares a path with all of its patterns, which is a seventh of what accepting an event takes, only where it has parameters. */
class RememberingRouter extends Router {
  /** Found once for all requests; a second router on one request would add to them. */
  readonly #matches = new Map<string, ReturnType<Router["match"]>>();

  remember(routes: readonly Route[]): void {
    for (const { method, path } of routes) {
      if (!path.includes(":")) this.#matches.set(`${method} ${path}`, super.match(path, method));
    }
  }

  override match(path: string, method: string) {
    return this.#matches.get(`${method} ${path}`) ?? super.match(path, method);
  }
}
