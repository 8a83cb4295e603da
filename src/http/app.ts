import Router from "@koa/router";
import Koa from "koa";
import type { Logger } from "pino";
import type { AdminDeps, OperationRoute } from "./admin/route.js";
import { limitAnswers } from "./admin/held-answers.js";
import { adminRoutes } from "./admin/routes.js";
import { TokenUse } from "./admin/token-use.js";
import { ByteBudget, limitBodies } from "./request/body-budget.js";
import type { DocsUrl } from "./errors.js";
import { handleErrors, refuseUnmatched, type RenderError } from "./middleware/handle-errors.js";
import { readLargeBodies } from "./request/large-bodies.js";
import { countRequests, metricsRoutes, type MetricsDeps } from "./metrics.js";
import type { OAuthDeps } from "./oauth/oauth-route.js";
import { oauthRoutes } from "./oauth/routes.js";
import { openApiRoutes } from "./openapi/document.js";
import { probeRoutes, refuseWhileStarting, type ProbeChecks } from "./probes.js";
import { assignRequestId, requireAddress, requireHost, setSecurityHeaders } from "./middleware/headers.js";
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
  /** The pages for people, which call operations of the administrative API. */
  pages: Pages;
  /** SVC_TRUSTED_PROXIES: the number of proxies in front of us whose X-Forwarded-For is trusted; 0 by default. */
  trustedProxies?: number;
  /** How many bytes of request bodies the process may hold; 192 MiB by default. */
  bodyBytesMax?: number;
  /** How many bytes of answers the process may hold for clients that do not read them; 256 MiB by default. */
  answerBytesMax?: number;
  /** Routes of the other parts, for example ingestion. */
  routes?: readonly Route[];
}

export interface Pages {
  routes(operations: readonly OperationRoute[]): readonly Route[];
  /** Answers a browser's request that failed. */
  renderError: RenderError;
}

/** Two of the largest batches. A parsed body takes several times as much memory, but only one is parsed at a time. */
const BODY_BYTES_MAX = 192 * 1024 * 1024;

/** Twenty of the largest pages of a list. */
const ANSWER_BYTES_MAX = 256 * 1024 * 1024;

/** The whole HTTP application. Only this module composes routes. */
export function createApp(deps: AppDeps): Koa {
  const app = createBareApp(deps);
  // Each proxy appends the address of its client to X-Forwarded-For; earlier entries come from the client and are not trusted.
  const { trustedProxies = 0 } = deps;
  Object.assign(app, { proxy: trustedProxies > 0, maxIpsCount: trustedProxies });
  const bodies = new ByteBudget(deps.bodyBytesMax ?? BODY_BYTES_MAX);
  const bytes = () => ({ held: bodies.held, limit: bodies.bytesMax });
  const help = "Bytes of request bodies held in memory, and the limit.";
  deps.metrics.process.gauge("svc_request_body_bytes", help, "bytes", bytes);
  const words = { what: "answers", credential: "organization" };
  app.use(limitAnswers(new ByteBudget(deps.answerBytesMax ?? ANSWER_BYTES_MAX, words)));
  app.use(limitBodies(bodies));
  app.use(readLargeBodies());
  const router = routerOf(appRoutes(deps));
  app.use(router.routes());
  app.use(refuseUnmatched(router));
  return app;
}

/** All routes of the application. */
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

/** The application during startup: it answers probes and metrics, and refuses everything else. */
export function createStartingApp(deps: BareDeps): Koa {
  const app = createBareApp(deps);
  const notYet = { started: () => false, unready: () => Promise.resolve([]) };
  app.use(routerOf([...probeRoutes(notYet), ...metricsRoutes(deps.metrics)]).routes());
  app.use(refuseWhileStarting);
  return app;
}

type BareDeps = Pick<AppDeps, "log" | "docsUrl" | "metrics"> & { pages?: Pages };

/** An application without routes, with the middleware that every request needs. */
function createBareApp({ log, docsUrl, metrics, pages }: BareDeps): Koa {
  const app = new Koa();
  app.use(countRequests(metrics.process));
  app.use(assignRequestId);
  app.use(logRequests(log));
  app.use(setSecurityHeaders);
  app.use(discardUnread);
  app.use(handleErrors(docsUrl, pages?.renderError));
  app.use(requireAddress);
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

/** A router that looks up paths without parameters in a map. Comparing a path with all patterns is a seventh of the cost of accepting an event. */
class RememberingRouter extends Router {
  /** Shared by all requests: a second router that handles the same request would modify them. */
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
