import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Sql } from "postgres";
import { unreadyReasons } from "../db/calls-probe.js";
import { connect } from "../db/connect.js";
import { createApp } from "../http/app.js";
import { answerClientErrors } from "../http/client-error.js";
import { drain } from "../http/drain.js";
import { Ingestor } from "../http/ingest/ingestor.js";
import { KeyCheck } from "../http/ingest/key-check.js";
import { ingestRoutes } from "../http/ingest/routes.js";
import { sealingKey } from "../webhooks/secret.js";
import type { ServerConfig } from "./config.js";
import type { Logger } from "./log.js";

export interface RunningHttp {
  /** Where it listens, for example http://127.0.0.1:4400. */
  address: string;
  /** Stops taking requests, answers those at hand, then resolves. */
  stop(): Promise<void>;
}

export interface HttpRoleOptions {
  config: ServerConfig;
  databaseUrl: string;
  /** Act as svc_http; false where the roles could not be created. */
  useRoles: boolean;
  secret: string;
  logger: Logger;
}

/** Calls with coalesced single events at once. More would make each call smaller and cost more than they win. */
const SINGLE_CALLS = 4;
const CONNECTIONS = 16;
const WAITING_MAX = 10_000;
const DRAIN_MS_MAX = 10_000;

/** Everything an HTTP process does. Resolves once it listens. */
export async function runHttpRole(options: HttpRoleOptions): Promise<RunningHttp> {
  const { config, databaseUrl, useRoles, secret, logger } = options;
  const sql = connect(databaseUrl, {
    max: CONNECTIONS,
    applicationName: "svc http",
    pipelineMax: 1,
    ...(useRoles ? { role: "svc_http" } : {}),
  });
  const keys = new KeyCheck(sql);
  let stopping = false;
  const app = createApp({
    log: logger,
    docsUrl: config.docsUrl ?? undefined,
    probes: {
      started: () => true,
      unready: async () => (stopping ? ["The service is stopping."] : unready(sql, logger)),
    },
    admin: { sql, sealingKey: sealingKey(secret), allowPrivateWebhooks: config.webhookAllowPrivate },
    routes: ingestRoutes({
      backend: new Ingestor(sql, { concurrency: SINGLE_CALLS, waitingMax: WAITING_MAX }),
      requireKey: (keyHash) => keys.require(keyHash),
      log: logger,
    }),
  });
  // Headers and bodies that trickle in hold a socket only so long.
  const handle = app.callback();
  const limits = { headersTimeout: 20_000, requestTimeout: 60_000, keepAliveTimeout: 65_000 };
  const server = createServer(limits, (request, response) => void handle(request, response));
  answerClientErrors(server, config.docsUrl ?? undefined);
  try {
    await listen(server, config);
  } catch (error) {
    await sql.end();
    throw error;
  }
  return {
    address: addressOf(server, config.host),
    async stop() {
      stopping = true;
      await drain(server, DRAIN_MS_MAX);
      await sql.end({ timeout: 5 });
    },
  };
}

async function unready(sql: Sql, logger: Logger): Promise<string[]> {
  try {
    return await unreadyReasons(sql);
  } catch (error) {
    logger.warn({ err: error }, "readiness could not be asked for");
    return ["The database does not answer."];
  }
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

function addressOf(server: Server, host: string): string {
  const { port } = server.address() as AddressInfo;
  return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
}
