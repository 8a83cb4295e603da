import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import type Koa from "koa";
import type { Sql } from "postgres";
import { unreadyReasons } from "../db/calls-probe.js";
import { connect } from "../db/connect.js";
import { CUSTOMER_WORK_CONNECTIONS, createCustomerWork, type CustomerWork } from "../http/admin/customer-work.js";
import { createWebhookTests, type WebhookTests } from "../http/admin/webhook-tests.js";
import { createApp, createStartingApp } from "../http/app.js";
import { drain } from "../http/drain.js";
import type { DocsUrl } from "../http/errors.js";
import { Ingestor } from "../http/ingest/ingestor.js";
import { KeyCheck } from "../http/ingest/key-check.js";
import { ingestRoutes } from "../http/ingest/routes.js";
import type { ProbeChecks } from "../http/probes.js";
import { formKey } from "../http/pages/form-token.js";
import { createHttpServer } from "../http/server.js";
import { within } from "../http/unavailable.js";
import { openMailer, type Mailer } from "../mail/mailer.js";
import { sealingKey } from "../webhooks/secret.js";
import { addressOf, docsUrlOf, publicUrlOf, type ServerConfig } from "./config.js";
import type { Logger } from "./log.js";

/** A server that listens already, for the probes, and answers everything else with SERVICE_UNAVAILABLE until it serves. */
export interface OpenHttp {
  /** Where it listens, for example http://127.0.0.1:4400. */
  address: string;
  /** Serves from now on. */
  serve(options: HttpRoleOptions): void;
  /** Stops taking requests, answers those at hand, then resolves. */
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
const CONNECTIONS = 16;
const WAITING_MAX = 10_000;
const DRAIN_MS_MAX = 10_000;
/** Longer than a connection is idle and a statement may then take. */
const SILENT_MS_MAX = 60_000;
const PROBE_MS_MAX = 5_000;
/** A customer of a million events is erased in one statement. */
const WORK_STATEMENT_MS_MAX = 5 * 60_000;

/** Opens the server of an HTTP process, before there is a database to serve from. Resolves once it listens. */
export async function openHttp(config: ServerConfig, logger: Logger): Promise<OpenHttp> {
  // Known once the server listens, and no longer once it has stopped.
  let address = "";
  const publicUrl = () => publicUrlOf(config, address);
  const docsUrl = () => docsUrlOf(config, address);
  let handle = createStartingApp({ log: logger, docsUrl }).callback();
  let stopping = false;
  let sql: Sql | undefined;
  let work: CustomerWork | undefined;
  let webhookTests: WebhookTests | undefined;
  const server = createHttpServer((request, response) => handle(request, response), docsUrl);
  await listen(server, config);
  address = addressOf(config.host, (server.address() as AddressInfo).port);
  return {
    address,
    serve(options) {
      sql = connectAs(options);
      work = createCustomerWork(connectForWork(options));
      const key = sealingKey(options.secret);
      webhookTests = createWebhookTests({ key, allowPrivate: config.webhookAllowPrivate });
      const unready = readiness(sql, logger);
      const probes: ProbeChecks = {
        started: () => true,
        unready: async () => (stopping ? ["The service is stopping."] : unready()),
      };
      handle = createServiceApp({
        sql,
        work,
        webhookTests,
        secret: options.secret,
        sealingKey: key,
        probes,
        config,
        logger,
        publicUrl,
        docsUrl,
      }).callback();
    },
    async stop() {
      stopping = true;
      await drain(server, DRAIN_MS_MAX);
      await Promise.all([sql?.end({ timeout: 5 }), work?.sql.end({ timeout: 5 }), webhookTests?.close()]);
    },
  };
}

function connectAs({ databaseUrl, useRoles }: HttpRoleOptions): Sql {
  return connect(databaseUrl, {
    max: CONNECTIONS,
    applicationName: "svc http",
    pipelineMax: 0,
    silentMsMax: SILENT_MS_MAX,
    ...(useRoles ? { role: "svc_http" } : {}),
  });
}

/** Apart, because it opens transactions, which a pool without a pipeline does not, and because nothing else may wait for it. */
function connectForWork({ databaseUrl, useRoles }: HttpRoleOptions): Sql {
  return connect(databaseUrl, {
    max: CUSTOMER_WORK_CONNECTIONS,
    applicationName: "svc http work",
    statementTimeoutMs: WORK_STATEMENT_MS_MAX,
    ...(useRoles ? { role: "svc_http" } : {}),
  });
}

interface ServiceAppParts {
  sql: Sql;
  work: CustomerWork;
  webhookTests: WebhookTests;
  secret: string;
  sealingKey: Buffer;
  probes: ProbeChecks;
  config: ServerConfig;
  logger: Logger;
  publicUrl: () => string;
  docsUrl: DocsUrl;
}

function createServiceApp(parts: ServiceAppParts): Koa {
  const { sql, work, webhookTests, secret, sealingKey, probes, config, logger, publicUrl, docsUrl } = parts;
  const keys = new KeyCheck(sql);
  return createApp({
    log: logger,
    docsUrl,
    probes,
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
    },
    routes: ingestRoutes({
      backend: new Ingestor(sql, { concurrency: SINGLE_CALLS, waitingMax: WAITING_MAX }),
      requireKey: (keyHash) => keys.require(keyHash),
      log: logger,
    }),
  });
}

/** Null where no mail is set up. */
function mailerOf({ mail }: ServerConfig, logger: Logger): Mailer | null {
  if (mail === null) return null;
  const onFailure = (requestId: string, reason: string) =>
    logger.warn({ requestId, reason }, "a link could not be mailed; whoever asked for it has it");
  return openMailer({ ...mail, onFailure });
}

/** Asks the database once for all who want to know meanwhile: the probes are open to everybody. */
function readiness(sql: Sql, logger: Logger): () => Promise<string[]> {
  let asked: Promise<string[]> | undefined;
  return async () => {
    try {
      asked ??= unreadyReasons(sql).finally(() => (asked = undefined));
      return await within(PROBE_MS_MAX, asked);
    } catch (error) {
      logger.warn({ err: error }, "readiness could not be asked for");
      return ["The database does not answer."];
    }
  };
}

function listen(server: Server, { host, port }: ServerConfig): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
