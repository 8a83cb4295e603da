import { randomBytes, randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { ingestBatch, ingestSingles } from "../src/db/api/ingestion.js";
import { connect } from "../src/db/connect.js";
import { createCustomerWork, createWebhookTests } from "../src/http/admin/slow-work.js";
import { createApp } from "../src/http/app.js";
import { KeyCheck } from "../src/http/ingest/key-check.js";
import type { IngestBackend } from "../src/http/ingest/request.js";
import { ingestRoutes } from "../src/http/ingest/routes.js";
import { formKey } from "../src/console/page-route.js";
import { decodeText } from "../src/http/request/parse-json.js";
import { createHttpServer } from "../src/http/server.js";
import { servicePages } from "../src/console/service/routes.js";
import { ProcessMetrics } from "../src/metrics/process-metrics.js";
import { readConfig } from "../src/server/config.js";
import { openHttp } from "../src/server/http-role.js";

// The service's HTTP application in a separate process. BENCH_BACKEND chooses the backend of the ingestion routes: "service" is what
// `svc-server start --role http` runs; the others are the same application without the database, or without coalescing.
// BENCH_DATABASE_URL is the database. Prints its address.
const databaseUrl = process.env["BENCH_DATABASE_URL"] ?? "";
const useRoles = process.env["BENCH_USE_ROLES"] === "1";
const logger = pino({ level: "silent" });

const trackingModel = () => Promise.reject(new Error("no tracking call is measured"));

/** The same application without the database. */
const constant: IngestBackend = {
  trackingModel,
  batch: () =>
    Promise.resolve({ limit: 1, remaining: 1, accepted: 0, warnings: {}, failures: {}, eventIds: [], repeated: 0 }),
  single: () =>
    Promise.resolve({
      limit: 1,
      remaining: 1,
      outcome: { eventId: "evt_0000000000000000", duplicate: false },
      warning: undefined,
    }),
};

const backend = process.env["BENCH_BACKEND"];
const address =
  backend === "service"
    ? await serve()
    : backend === "constant"
      ? await serveWith(() => constant)
      : await serveWith(oneCallPerRequest);
process.stdin.resume().on("end", () => process.exit());
process.stdout.write(`${address}\n`);

async function serve(): Promise<string> {
  const { config } = readConfig({ DATABASE_URL: databaseUrl, SVC_PORT: "0" });
  const secret = randomBytes(32).toString("hex");
  const http = await openHttp(config, logger);
  http.serve({ databaseUrl, useRoles, secret });
  return http.address;
}

/** The same application without coalescing: one call per request. */
function oneCallPerRequest(sql: ReturnType<typeof connect>): IngestBackend {
  return {
    trackingModel,
    batch: ({ keyHash }, body) => {
      const text = typeof body === "string" ? body : decodeText(body);
      return ingestBatch(sql, { keyHash, batchId: randomUUID(), repeated: false }, text);
    },
    single: async ({ keyHash }, body) => {
      const call = { keyHash, batchId: randomUUID(), repeated: false };
      const [answer] = await ingestSingles(sql, call, [body]);
      if (answer === undefined || "code" in answer.outcome) throw new Error("the event was refused");
      return answer;
    },
  };
}

async function serveWith(make: (sql: ReturnType<typeof connect>) => IngestBackend): Promise<string> {
  const sql = connect(databaseUrl, {
    max: 14, // as for ingestion in the service; there are no other queries here
    applicationName: "svc bench app",
    pipelineMax: 0,
    ...(useRoles ? { role: "svc_http" } : {}),
  });
  const keys = new KeyCheck(sql);
  const key = Buffer.alloc(32);
  const oauth = { sql, publicUrl: () => "http://127.0.0.1", anyHost: true };
  const app = createApp({
    log: logger,
    probes: { started: () => true, unready: () => Promise.resolve([]) },
    metrics: {
      token: null,
      process: new ProcessMetrics({ version: "benchmark" }),
      installation: () => Promise.resolve(""),
    },
    admin: {
      sql,
      sealingKey: key,
      allowPrivateWebhooks: false,
      publicUrl: () => "",
      mailer: null,
      work: createCustomerWork(sql),
      webhookTests: createWebhookTests({ key, allowPrivate: false }),
      ai: null,
    },
    oauth,
    pages: servicePages({ ...oauth, key: formKey("benchmark"), mailer: null, log: logger }),
    routes: ingestRoutes({ backend: make(sql), requireKey: (keyHash) => keys.require(keyHash), log: logger }),
  });
  const server = createHttpServer(app.callback(), undefined);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}
