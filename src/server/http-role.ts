import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import { call } from "../db/api/call.js";
import { databaseIdentity, failedChecks, ping } from "../db/api/monitoring.js";
import { connect } from "../db/connect.js";
import { hasNoConnections, isDiskFull, isLoginRefused } from "../db/sqlstate.js";
import { PROJECT_ROOT, readCommitted, type Committed } from "../db/migrate/files.js";
import {
  createAiQuestions,
  createCustomerWork,
  createWebhookTests,
  CUSTOMER_WORK_CONNECTIONS,
} from "../http/admin/slow-work.js";
import { ADMINISTRATION_CONNECTIONS } from "../http/admin/routes.js";
import { acceptInParallel } from "../http/accept-in-parallel.js";
import { createApp, createStartingApp } from "../http/app.js";
import { type DocsUrl, type FailedCheck, OverdueError, withTimeout } from "../http/errors.js";
import { Ingestor, LARGE_CALLS } from "../http/ingest/ingestor.js";
import { KeyCheck } from "../http/ingest/key-check.js";
import type { CallQueueLoad } from "../http/ingest/keyed-call-queue.js";
import type { BatchDatabase } from "../http/ingest/send-batch.js";
import { DiskFull } from "../http/ingest/request.js";
import { ingestRoutes } from "../http/ingest/routes.js";
import { servicePages } from "../console/service/routes.js";
import { formKey } from "../console/page-route.js";
import type { MetricsDeps } from "../http/metrics.js";
import { CLIENT_LIMITS, createHttpServer, disableKeepAlive, drain } from "../http/server.js";
import { version } from "../http/version.js";
import { openMailer, type Mailer } from "../mail/mailer.js";
import { renderInstallation } from "../metrics/installation.js";
import { ProcessMetrics } from "../metrics/process-metrics.js";
import { sealingKey } from "../webhooks/secret.js";
import { addressOf, docsUrlOf, type ServerConfig } from "./config.js";
import type { Logger } from "./log.js";
import { listenOn } from "./start-failure.js";

export type OpenHttp = Awaited<ReturnType<typeof openHttp>>;

export interface HttpRoleOptions {
  databaseUrl: string;
  /** Act as svc_http; false if the roles could not be created. */
  useRoles: boolean;
  secret: string;
}

/** Concurrent calls with coalesced single events, of different keys. */
const SINGLE_CALLS = 4;
/** One for each call of ingestion without a large batch (4 and 8), one for checks of keys, one for the probes. */
const INGESTION_CONNECTIONS = 14;
const WAITING_MAX = 10_000;
const DRAIN_MS_MAX = 10_000;
/** Longer than a connection can be idle and a statement then take. */
const SILENT_MS_MAX = 60_000;
const PROBE_MS_MAX = 5_000;
/** Connections that wait until the event loop accepts them; the system has a limit, too. Beyond it, packets of clients are dropped for seconds. */
const BACKLOG = 4_096;
/** Less than the ten seconds after which Prometheus gives up a scrape. */
const METRICS_MS_MAX = 4_000;
/** Less than METRICS_MS_MAX, so that the log has the server's reason. */
const METRICS_STATEMENT_MS_MAX = 3_500;
/** A customer of a million events is erased in one statement. */
const WORK_STATEMENT_MS_MAX = 5 * 60_000;

/**
 * Opens the server of an HTTP process before the database is ready. Resolves once it listens. Until `serve` is called, it answers the probes,
 * and everything else with SERVICE_UNAVAILABLE.
 */
export async function openHttp(config: ServerConfig, logger: Logger) {
  // Set once the server listens.
  let address = "";
  const publicUrl = () => config.publicUrl ?? address;
  const docsUrl = () => docsUrlOf(config, address);
  const processMetrics = new ProcessMetrics({ version });
  processMetrics.watchRuntime();
  const metrics: MetricsDeps = {
    token: config.metricsToken,
    process: processMetrics,
    // Requires the database.
    installation: () => Promise.resolve(""),
  };
  let handle = createStartingApp({ log: logger, docsUrl, metrics }).callback();
  let isStopping = false;
  let service: ReturnType<typeof openService> | undefined;
  const connectionsEach = config.trustedProxies > 0 ? Infinity : CLIENT_LIMITS.connectionsEach;
  const limits = { ...CLIENT_LIMITS, connectionsEach };
  const server = createHttpServer((request, response) => handle(request, response), docsUrl, limits, logger);
  await listenOn(server, config, BACKLOG);
  acceptInParallel(server, BACKLOG, logger);
  address = addressOf(config.host, (server.address() as AddressInfo).port);
  return {
    /** The address it listens on, for example http://127.0.0.1:4400. */
    address,
    /** Serves from now on. */
    serve(options: HttpRoleOptions): void {
      service = openService(options, { config, logger, publicUrl, docsUrl, metrics, isStopping: () => isStopping });
      handle = service.app.callback();
    },
    /** Fails readiness for `stopDelaySeconds`; then accepts no more requests, finishes those under way, and resolves. */
    async stop(): Promise<void> {
      isStopping = true;
      disableKeepAlive(server);
      // If nothing was served, no load balancer needs time to notice.
      if (service !== undefined) await delay(config.stopDelaySeconds * 1000);
      await drain(server, DRAIN_MS_MAX);
      await service?.close();
    },
  };
}

interface ServiceParts {
  config: ServerConfig;
  logger: Logger;
  publicUrl: () => string;
  docsUrl: DocsUrl;
  metrics: MetricsDeps;
  isStopping: () => boolean;
}

/** The application, and a function that closes everything it has opened. */
function openService(options: HttpRoleOptions, parts: ServiceParts) {
  const { config, logger, publicUrl, docsUrl, metrics, isStopping } = parts;
  const pools = openPools(options, config.poolerUrl);
  const { ingestion, administration, sockets } = pools;
  showPool(metrics.process, sockets);
  const limits = { concurrency: SINGLE_CALLS, waitingMax: WAITING_MAX };
  const backend = new Ingestor(ingestion, pools.ofLargeBatches, limits);
  showIngestion(metrics.process, backend);
  const keys = new KeyCheck(ingestion);
  const requireKey = (keyHash: Buffer) => keys.require(keyHash);
  const disk = new DiskFull();
  const unready = readiness(ingestion, config.poolerUrl === null ? null : pools.metrics, disk, logger);
  const key = sealingKey(options.secret);
  const webhookTests = createWebhookTests({ key, allowPrivate: config.webhookAllowPrivate });
  const mailer = mailerOf(config, logger);
  const oauth = { sql: administration, publicUrl, anyHost: config.publicUrl === null };
  const app = createApp({
    log: logger,
    docsUrl,
    probes: {
      started: () => true,
      unready: async () => (isStopping() ? [{ name: "stopping", message: "The service is stopping." }] : unready()),
    },
    metrics: { ...metrics, installation: installationMetrics(pools.metrics, logger) },
    oauth,
    pages: servicePages({ ...oauth, key: formKey(options.secret), mailer, log: logger }),
    trustedProxies: config.trustedProxies,
    admin: {
      sql: administration,
      sealingKey: key,
      allowPrivateWebhooks: config.webhookAllowPrivate,
      publicUrl,
      mailer,
      work: createCustomerWork(pools.work),
      webhookTests,
      ai: config.ai === null ? null : createAiQuestions(config.ai),
    },
    routes: ingestRoutes({ backend, requireKey, log: logger, outcomes: metrics.process, disk }),
  });
  const close = () => {
    const ended = [ingestion, administration, pools.metrics, pools.work].map((pool) => pool.end({ timeout: 5 }));
    return Promise.all([...ended, backend.end(), webhookTests.close()]);
  };
  return { app, close };
}

function openPools({ databaseUrl, useRoles }: HttpRoleOptions, poolerUrl: string | null) {
  const role = useRoles ? { role: "svc_http" } : {};
  const sockets = new Set<Socket>();
  // Each request runs one statement, so a pooler may give it any session.
  const toServe = (max: number, applicationName: string): BatchDatabase => ({
    url: poolerUrl ?? databaseUrl,
    options: { max, applicationName, pooled: poolerUrl !== null, pipelineMax: 0, silentMsMax: SILENT_MS_MAX, ...role },
  });
  const openToServe = (max: number, applicationName: string): Sql => {
    const { url, options } = toServe(max, applicationName);
    return connect(url, { ...options, sockets });
  };
  const openDirectly = (max: number, applicationName: string, statementTimeoutMs: number): Sql =>
    connect(databaseUrl, {
      ...{ max, applicationName, statementTimeoutMs, silentMsMax: statementTimeoutMs + SILENT_MS_MAX },
      ...role,
    });
  return {
    /** Those of ingestion and administration. */
    sockets,
    /** Also for checks of keys and for the probes. */
    ingestion: openToServe(INGESTION_CONNECTIONS, "svc http"),
    /** For the thread that sends large batches. */
    ofLargeBatches: toServe(LARGE_CALLS, "svc http large batches"),
    /** Separate, because ingestion and the probes must not wait for reads of people and scripts. Also for the pages and OAuth. */
    administration: openToServe(ADMINISTRATION_CONNECTIONS, "svc http admin"),
    /**
     * Separate, because it opens transactions, which a pool without a pipeline does not, and because nothing else may wait for it. Bypasses the
     * pooler, whose few sessions would be held for as long as a client reads an export.
     */
    work: openDirectly(CUSTOMER_WORK_CONNECTIONS, "svc http work", WORK_STATEMENT_MS_MAX),
    /**
     * Separate, so that a scrape is answered even if all other connections are busy: one for the metrics, one to check that the database answers.
     * Bypasses the pooler, too.
     */
    metrics: openDirectly(2, "svc metrics", METRICS_STATEMENT_MS_MAX),
  };
}

function showPool(metrics: ProcessMetrics, sockets: ReadonlySet<Socket>): void {
  const help =
    "Connections of the pools that serve requests, ingestion's and administration's together: open, and the limit.";
  metrics.gauge("svc_database_pool_connections", help, "connections", () => ({
    open: [...sockets].filter(({ destroyed }) => !destroyed).length,
    limit: INGESTION_CONNECTIONS + ADMINISTRATION_CONNECTIONS,
  }));
}

function showIngestion(metrics: ProcessMetrics, ingestor: Ingestor): void {
  const of = (figure: keyof CallQueueLoad) => () => {
    const { single, batch } = ingestor.load;
    return { single: single[figure], batch: batch[figure] };
  };
  const help = "Ingestion requests waiting for a call to the database.";
  metrics.gauge("svc_ingest_waiting_requests", help, "kind", of("waiting"));
  metrics.gauge("svc_ingest_running_calls", "Ingestion calls running in the database.", "kind", of("calls"));
}

/** Shares one call of `ask` among all callers while it is under way. */
function shared<T>(ask: () => Promise<T>): () => Promise<T> {
  let pending: Promise<T> | undefined;
  return () => (pending ??= ask().finally(() => (pending = undefined)));
}

function installationMetrics(sql: Sql, logger: Logger): () => Promise<string> {
  return shared(async () => {
    const [figures, answer] = await Promise.allSettled([
      withTimeout(METRICS_MS_MAX, call(sql, "metrics")),
      withTimeout(METRICS_MS_MAX, ping(sql)),
    ]);
    if (figures.status === "fulfilled") return renderInstallation(figures.value);
    const reason = figures.reason as unknown;
    const err =
      reason instanceof OverdueError
        ? new Error(`the database did not answer within ${METRICS_MS_MAX} milliseconds`)
        : reason;
    logger.warn({ err }, "the metrics of the installation could not be read");
    return renderInstallation(null, answer.status === "fulfilled");
  });
}

/** Null if no mail server is configured. */
function mailerOf({ mail }: ServerConfig, logger: Logger): Mailer | null {
  if (mail === null) return null;
  const onFailure = (requestId: string, reason: string) =>
    logger.warn(
      { requestId, reason },
      "the mail with a link was not sent; if the API made the link, its answer contains it",
    );
  return openMailer({ ...mail, onFailure });
}

const DISK_FULL = "The database's disk is full.";

const ELSEWHERE = "The pooler leads to another database than the one of the workers.";

/**
 * The readiness check. The probes are open to everybody, so concurrent probes share one query.
 *
 * @param direct connects to the database itself if `sql` connects through a pooler, which may be led elsewhere at any time
 */
function readiness(sql: Sql, direct: Sql | null, disk: DiskFull, logger: Logger): () => Promise<FailedCheck[]> {
  let migrations: Committed[] | undefined;
  let identity: string | null | undefined;
  const ask = shared(async (): Promise<FailedCheck[]> => {
    const failed = await failedChecks(sql, (migrations ??= await readCommitted(PROJECT_ROOT)));
    if (direct === null) return failed;
    if (identity === undefined) identity = await databaseIdentity(direct);
    if (identity === null) return failed;
    const there = await databaseIdentity(sql);
    if (there === null || there === identity) return failed;
    return [{ name: "database", message: ELSEWHERE }, ...failed];
  });
  return async () => {
    try {
      const failed = await withTimeout(PROBE_MS_MAX, ask());
      return disk.isFull ? [...failed, { name: "database", message: DISK_FULL }] : failed;
    } catch (error) {
      logger.warn({ err: error }, "the readiness check failed: the database did not answer");
      return [{ name: "database", message: unreadyDatabase(error) }];
    }
  };
}

/** The public reason why the database could not be queried; the log has the error. */
function unreadyDatabase(error: unknown): string {
  if (isDiskFull(error)) return DISK_FULL;
  if (hasNoConnections(error)) return "The database has no connections left.";
  return isLoginRefused(error) ? "The database does not let the service in." : "The database does not answer.";
}
