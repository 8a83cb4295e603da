import type { Server } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type Koa from "koa";
import type { Sql } from "postgres";
import { call } from "../db/api/call.js";
import { answers, failedChecks } from "../db/api/monitoring.js";
import { connect, type ConnectOptions } from "../db/connect.js";
import { PROJECT_ROOT, readCommitted, type Committed } from "../db/migrate/files.js";
import {
  createAiQuestions,
  createCustomerWork,
  createWebhookTests,
  CUSTOMER_WORK_CONNECTIONS,
  type CustomerWork,
  type WebhookTests,
} from "../http/admin/work.js";
import { ADMINISTRATION_CONNECTIONS } from "../http/admin/routes.js";
import { acceptInParallel } from "../http/acceptors.js";
import { createApp, createStartingApp } from "../http/app.js";
import { type DocsUrl, type FailedCheck, within } from "../http/errors.js";
import { Ingestor, LARGE_CALLS, LargeBatches } from "../http/ingest/ingestor.js";
import { KeyCheck } from "../http/ingest/key-check.js";
import type { CallQueueLoad } from "../http/ingest/keyed-call-queue.js";
import type { BatchDatabase } from "../http/ingest/send-batch.js";
import { DiskFull, ingestRoutes } from "../http/ingest/routes.js";
import type { ProbeChecks } from "../http/probes.js";
import { formKey } from "../http/pages/form-token.js";
import type { MetricsDeps } from "../http/metrics.js";
import { CLIENT_LIMITS, createHttpServer, drain } from "../http/server.js";
import { version } from "../http/version.js";
import { openMailer, type Mailer } from "../mail/mailer.js";
import { renderInstallation } from "../metrics/installation.js";
import { ProcessMetrics } from "../metrics/process-metrics.js";
import { sealingKey } from "../webhooks/secret.js";
import { addressOf, docsUrlOf, publicUrlOf, type ServerConfig } from "./config.js";
import type { Logger } from "./log.js";
import { listenFailure } from "./start-failure.js";

/** A server that listens already, for the probes, and answers everything else with SERVICE_UNAVAILABLE until it serves. */
export interface OpenHttp {
  /** Where it listens, for example http://127.0.0.1:4400. */
  address: string;
  /** Serves from now on. */
  serve(options: HttpRoleOptions): void;
  /** Fails readiness, for a time if the configuration says so; then takes no more requests, answers those at hand, and resolves. */
  stop(): Promise<void>;
}

export interface HttpRoleOptions {
  databaseUrl: string;
  /** Act as svc_http; false where the roles could not be created. */
  useRoles: boolean;
  secret: string;
}

/** Calls with coalesced single events at once, of different keys. */
const SINGLE_CALLS = 4;
/** One for each call of ingestion but those with large batches (4 and 8), one for checks of keys, one for the probes. */
const INGESTION_CONNECTIONS = 14;
const WAITING_MAX = 10_000;
const DRAIN_MS_MAX = 10_000;
/** Longer than a connection is idle and a statement may then take. */
const SILENT_MS_MAX = 60_000;
const PROBE_MS_MAX = 5_000;
/** Connections that wait until the event loop is free to take them; the system bounds it, too. Of more, it drops what clients send for seconds. */
const BACKLOG = 4_096;
/** Less than the ten seconds after which Prometheus gives a scrape up. */
const METRICS_MS_MAX = 4_000;
/** A customer of a million events is erased in one statement. */
const WORK_STATEMENT_MS_MAX = 5 * 60_000;

/** Opens the server of an HTTP process, before there is a database to serve from. Resolves once it listens. */
export async function openHttp(config: ServerConfig, logger: Logger): Promise<OpenHttp> {
  // Known once the server listens, and no longer once it has stopped.
  let address = "";
  const publicUrl = () => publicUrlOf(config, address);
  const docsUrl = () => docsUrlOf(config, address);
  const processMetrics = new ProcessMetrics({ version });
  processMetrics.watchRuntime();
  const metrics: MetricsDeps = {
    token: config.metricsToken,
    process: processMetrics,
    // Nothing is known of the installation before it serves.
    installation: () => Promise.resolve(""),
  };
  let handle = createStartingApp({ log: logger, docsUrl, metrics }).callback();
  let stopping = false;
  let ingestionSql: Sql | undefined;
  let largeBatches: LargeBatches | undefined;
  let administrationSql: Sql | undefined;
  let metricsSql: Sql | undefined;
  let work: CustomerWork | undefined;
  let webhookTests: WebhookTests | undefined;
  const connectionsEach = config.trustedProxies > 0 ? Infinity : CLIENT_LIMITS.connectionsEach;
  const limits = { ...CLIENT_LIMITS, connectionsEach };
  const server = createHttpServer((request, response) => handle(request, response), docsUrl, limits, logger);
  await listen(server, config);
  acceptInParallel(server, BACKLOG, logger);
  address = addressOf(config.host, (server.address() as AddressInfo).port);
  return {
    address,
    serve(options) {
      const sockets = new Set<Socket>();
      ingestionSql = connectForIngestion(options, config.poolerUrl, sockets);
      largeBatches = sendLargeBatches(options, config.poolerUrl);
      administrationSql = connectForAdministration(options, config.poolerUrl, sockets);
      showPool(processMetrics, sockets);
      metricsSql = connectForMetrics(options);
      work = createCustomerWork(connectForWork(options));
      const key = sealingKey(options.secret);
      webhookTests = createWebhookTests({ key, allowPrivate: config.webhookAllowPrivate });
      const disk = new DiskFull();
      const unready = readiness(ingestionSql, disk, logger);
      const probes: ProbeChecks = {
        started: () => true,
        unready: async () => (stopping ? [{ name: "stopping", message: "The service is stopping." }] : unready()),
      };
      handle = createServiceApp({
        ingestionSql,
        largeBatches,
        administrationSql,
        disk,
        work,
        webhookTests,
        secret: options.secret,
        sealingKey: key,
        probes,
        metrics: { ...metrics, installation: installationMetrics(metricsSql, logger) },
        config,
        logger,
        publicUrl,
        docsUrl,
      }).callback();
    },
    async stop() {
      stopping = true;
      // Where nothing was served nobody needs the time to look elsewhere.
      if (ingestionSql !== undefined) await delay(config.stopDelaySeconds * 1000);
      await drain(server, DRAIN_MS_MAX);
      const pools = [ingestionSql, administrationSql, metricsSql, work?.sql];
      await Promise.all([
        ...pools.map((pool) => pool?.end({ timeout: 5 })),
        largeBatches?.end(),
        webhookTests?.close(),
      ]);
    },
  };
}

/** With the check of keys and the probes. */
function connectForIngestion(options: HttpRoleOptions, poolerUrl: string | null, sockets: Set<Socket>): Sql {
  return connectToServe(options, poolerUrl, sockets, { max: INGESTION_CONNECTIONS, applicationName: "svc http" });
}

/** Apart, because ingestion and the probes must not wait for what people and their scripts read: with the pages and OAuth. */
function connectForAdministration(options: HttpRoleOptions, poolerUrl: string | null, sockets: Set<Socket>): Sql {
  return connectToServe(options, poolerUrl, sockets, {
    max: ADMINISTRATION_CONNECTIONS,
    applicationName: "svc http admin",
  });
}

function connectToServe(
  options: HttpRoleOptions,
  poolerUrl: string | null,
  sockets: Set<Socket>,
  pool: { max: number; applicationName: string },
): Sql {
  const to = toServe(options, poolerUrl, pool);
  return connect(to.url, { ...to.options, sockets });
}

function sendLargeBatches(options: HttpRoleOptions, poolerUrl: string | null): LargeBatches {
  return new LargeBatches(toServe(options, poolerUrl, { max: LARGE_CALLS, applicationName: "svc http large batches" }));
}

/** Each request's work in the database is one statement, so any session will do for it. */
function toServe(
  { databaseUrl, useRoles }: HttpRoleOptions,
  poolerUrl: string | null,
  pool: Pick<ConnectOptions, "max" | "applicationName">,
): BatchDatabase {
  return {
    url: poolerUrl ?? databaseUrl,
    options: {
      ...pool,
      pooled: poolerUrl !== null,
      pipelineMax: 0,
      silentMsMax: SILENT_MS_MAX,
      ...(useRoles ? { role: "svc_http" } : {}),
    },
  };
}

/**
 * Apart, because it opens transactions, which a pool without a pipeline does not, and because nothing else may wait for it. Past a pooler, whose
 * few sessions would be held for as long as somebody reads an export.
 */
function connectForWork({ databaseUrl, useRoles }: HttpRoleOptions): Sql {
  return connect(databaseUrl, {
    max: CUSTOMER_WORK_CONNECTIONS,
    applicationName: "svc http work",
    statementTimeoutMs: WORK_STATEMENT_MS_MAX,
    ...(useRoles ? { role: "svc_http" } : {}),
  });
}

/** Apart, so that a scrape answers also where all other connections are busy: one for the figures, one to see whether the database answers. Past a pooler, too. */
function connectForMetrics({ databaseUrl, useRoles }: HttpRoleOptions): Sql {
  return connect(databaseUrl, {
    max: 2,
    applicationName: "svc metrics",
    statementTimeoutMs: METRICS_MS_MAX,
    ...(useRoles ? { role: "svc_http" } : {}),
  });
}

function showPool(metrics: ProcessMetrics, sockets: ReadonlySet<Socket>): void {
  const help =
    "Connections of the pools that serve requests, ingestion's and administration's together: open, and at most.";
  metrics.gauge("svc_database_pool_connections", help, "connections", () => ({
    open: [...sockets].filter(({ destroyed }) => !destroyed).length,
    limit: INGESTION_CONNECTIONS + ADMINISTRATION_CONNECTIONS,
  }));
}

/** Asks the database once for all who want to know meanwhile. */
function installationMetrics(sql: Sql, logger: Logger): () => Promise<string> {
  let asked: Promise<string> | undefined;
  const ask = async () => {
    const [figures, answer] = await Promise.allSettled([
      within(METRICS_MS_MAX, call(sql, "metrics")),
      within(METRICS_MS_MAX, answers(sql)),
    ]);
    if (figures.status === "fulfilled") return renderInstallation(figures.value);
    logger.warn({ err: figures.reason as unknown }, "the figures of the installation could not be read");
    return renderInstallation(null, answer.status === "fulfilled");
  };
  return () => (asked ??= ask().finally(() => (asked = undefined)));
}

interface ServiceAppParts {
  ingestionSql: Sql;
  largeBatches: LargeBatches;
  administrationSql: Sql;
  disk: DiskFull;
  work: CustomerWork;
  webhookTests: WebhookTests;
  secret: string;
  sealingKey: Buffer;
  probes: ProbeChecks;
  metrics: MetricsDeps;
  config: ServerConfig;
  logger: Logger;
  publicUrl: () => string;
  docsUrl: DocsUrl;
}

function createServiceApp(parts: ServiceAppParts): Koa {
  const { work, webhookTests, secret, sealingKey, probes, metrics, config, logger, publicUrl, docsUrl } = parts;
  const keys = new KeyCheck(parts.ingestionSql);
  const sql = parts.administrationSql;
  const backend = new Ingestor(parts.ingestionSql, parts.largeBatches, {
    concurrency: SINGLE_CALLS,
    waitingMax: WAITING_MAX,
  });
  showIngestion(metrics.process, backend);
  return createApp({
    log: logger,
    docsUrl,
    probes,
    metrics,
    pages: { sql, publicUrl, anyHost: config.publicUrl === null, key: formKey(secret), log: logger },
    trustedProxies: config.trustedProxies,
    admin: {
      sql,
      sealingKey,
      allowPrivateWebhooks: config.webhookAllowPrivate,
      publicUrl,
      mailer: mailerOf(config, logger),
      work,
      webhookTests,
      ai: config.ai === null ? null : createAiQuestions(config.ai),
    },
    routes: ingestRoutes({
      backend,
      requireKey: (keyHash) => keys.require(keyHash),
      log: logger,
      outcomes: metrics.process,
      disk: parts.disk,
    }),
  });
}

function showIngestion(metrics: ProcessMetrics, ingestor: Ingestor): void {
  const of = (figure: keyof CallQueueLoad) => () => {
    const { single, batch } = ingestor.load;
    return { single: single[figure], batch: batch[figure] };
  };
  metrics.gauge(
    "svc_ingest_waiting_requests",
    "Ingestion requests that wait for a call to the database.",
    "kind",
    of("waiting"),
  );
  metrics.gauge("svc_ingest_running_calls", "Calls of ingestion that the database is at.", "kind", of("calls"));
}

/** Null where no mail is set up. */
function mailerOf({ mail }: ServerConfig, logger: Logger): Mailer | null {
  if (mail === null) return null;
  const onFailure = (requestId: string, reason: string) =>
    logger.warn({ requestId, reason }, "a link could not be mailed; whoever asked for it has it");
  return openMailer({ ...mail, onFailure });
}

/** Asks the database once for all who want to know meanwhile: the probes are open to everybody. */
function readiness(sql: Sql, disk: DiskFull, logger: Logger): () => Promise<FailedCheck[]> {
  let migrations: Committed[] | undefined;
  let asked: Promise<FailedCheck[]> | undefined;
  const ask = async () => failedChecks(sql, (migrations ??= await readCommitted(PROJECT_ROOT)));
  return async () => {
    try {
      asked ??= ask().finally(() => (asked = undefined));
      const failed = await within(PROBE_MS_MAX, asked);
      return disk.isFull ? [...failed, { name: "database", message: "The database's disk is full." }] : failed;
    } catch (error) {
      logger.warn({ err: error }, "readiness could not be asked for");
      return [{ name: "database", message: "The database does not answer." }];
    }
  };
}

function listen(server: Server, { host, port }: ServerConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    const onError = (error: Error) => reject(listenFailure(error, { host, port }));
    server.once("error", onError);
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off("error", onError);
      resolve();
    });
  });
}
