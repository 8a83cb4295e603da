import type { BenchDatabase } from "../lib/database.js";
import { startApp } from "../lib/children.js";
import { post, requestBytes } from "../lib/load.js";
import { measure, type Variant } from "../lib/measure.js";
import type { Row } from "../lib/report.js";
import { directVariant, withConnections } from "./batches.js";
import { BATCH, nextBodies } from "./bodies.js";

/** The same batches over HTTP, plain and compressed, compared with the database calls that they result in. */
export async function benchHttpBatches(database: BenchDatabase, rounds: number, batches: number): Promise<Row[]> {
  const app = await startApp(database, "service");
  const rows: Row[] = [];
  try {
    for (const senders of [1, 4]) {
      const [direct, plain, gzip] = await withConnections(database, senders, (connections) =>
        measure(
          [
            directVariant(connections, database, batches),
            httpVariant("HTTP", app.ready, database.key, senders, batches, false),
            httpVariant("HTTP, gzip", app.ready, database.key, senders, batches, true),
          ],
          rounds,
          (round) => database.settle(round),
        ),
      );
      if (!direct || !plain || !gzip) throw new Error("nothing was measured");
      for (const { name, rate, rates, latency } of [plain, gzip]) {
        rows.push({
          work: `POST /v1/events/batch of 1,000 keyed events, ${senders} sender${senders > 1 ? "s" : ""}${name === "HTTP" ? "" : ", gzip"}`,
          against: `svc_api.ingest, ${senders} connection${senders > 1 ? "s" : ""}`,
          ours: rate,
          theirs: direct.rate,
          unit: "events/s",
          floor: null,
          aim: null,
          latency: { ours: latency, theirs: direct.latency },
          rounds: { ours: rates, theirs: direct.rates },
        });
      }
    }
  } finally {
    await app.stop();
  }
  return rows;
}

function httpVariant(
  name: string,
  address: string,
  key: string,
  senders: number,
  batches: number,
  gzip: boolean,
): Variant {
  return {
    name,
    prepare: () => batchRequests(batches, key, gzip),
    run: async (requests, latencies) => {
      await post([{ address, connections: senders }], requests as Buffer[], latencies);
      return batches * BATCH;
    },
  };
}

export function batchRequests(batches: number, key: string, gzip = false): Buffer[] {
  return nextBodies(batches).map((body) => requestBytes("/v1/events/batch", key, body, gzip));
}
