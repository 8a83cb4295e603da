import { randomUUID } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { ingestBatch, ingestSingles } from "../src/db/calls-ingest.js";
import { connect } from "../src/db/connect.js";
import { createApp } from "../src/http/app.js";
import { Ingestor } from "../src/http/ingest/ingestor.js";
import { KeyCheck } from "../src/http/ingest/key-check.js";
import { ingestRoutes, type IngestBackend } from "../src/http/ingest/routes.js";

// The service's HTTP application in a process of its own, with one of three things behind the ingestion routes. BENCH_BACKEND names it,
// BENCH_DATABASE_URL is the database; the address is printed.
const sql = connect(process.env["BENCH_DATABASE_URL"] ?? "", {
  max: 16,
  applicationName: "svc bench app",
  pipelineMax: 1,
});

const backends: Record<string, () => IngestBackend> = {
  service: () => new Ingestor(sql, { concurrency: 4, waitingMax: 10_000 }),
  /** The same application without the database. */
  constant: () => ({
    batch: () => Promise.resolve({ limit: 1, remaining: 1, accepted: 0, warnings: {}, eventIds: [] }),
    single: () =>
      Promise.resolve({
        limit: 1,
        remaining: 1,
        outcome: { eventId: "evt_0000000000000000", duplicate: false },
        warning: undefined,
      }),
  }),
  /** What coalescing is for: the same application with one call per request. */
  "one call per request": () => ({
    batch: (keyHash, body) => ingestBatch(sql, { keyHash, batchId: randomUUID(), repeated: false }, body),
    single: async (keyHash, body) => {
      const { limit, remaining, outcomes } = await ingestSingles(
        sql,
        { keyHash, batchId: randomUUID(), repeated: false },
        [body],
      );
      const [outcome] = outcomes;
      if (!Array.isArray(outcome)) throw new Error("the event was refused");
      return { limit, remaining, outcome: { eventId: outcome[0], duplicate: outcome[1] }, warning: undefined };
    },
  }),
};

const backend = backends[process.env["BENCH_BACKEND"] ?? ""]?.();
if (!backend) throw new Error(`BENCH_BACKEND must be one of ${Object.keys(backends).join(", ")}`);
const keys = new KeyCheck(sql);
const log = pino({ level: "silent" });
const app = createApp({
  log,
  probes: { started: () => true, unready: () => Promise.resolve([]) },
  admin: { sql, sealingKey: Buffer.alloc(32), allowPrivateWebhooks: false },
  routes: ingestRoutes({ backend, requireKey: (keyHash) => keys.require(keyHash), log }),
});
const handle = app.callback();
const server = createServer((request, response) => void handle(request, response));
server.listen(0, "127.0.0.1", () => {
  process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`);
});
