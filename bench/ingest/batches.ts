import { randomUUID } from "node:crypto";
import type { Sql } from "postgres";
import { ingestBatch } from "../../src/db/api/ingestion.js";
import { connect } from "../../src/db/connect.js";
import type { BenchDatabase } from "../lib/database.js";
import { drain, measure, type Variant } from "../lib/measure.js";
import type { Row } from "../lib/report.js";
import { openBaseline } from "./baseline.js";
import { BATCH, nextBodies } from "./bodies.js";

/** Batches of 1,000 keyed events under a strict schema, compared with inserting the same rows by one `insert … select unnest(…)` per table. */
export async function benchBatches(database: BenchDatabase, rounds: number, batches: number): Promise<Row[]> {
  const rows: Row[] = [];
  const baseline = await openBaseline(database);
  for (const [connections, floor] of [
    [1, 0.6],
    [4, 0.55],
  ] as const) {
    const [theirs, ours] = await withConnections(database, connections, (open) =>
      measure([baseline.variant(open, batches), directVariant(open, database, batches)], rounds, (round) =>
        database.settle(round),
      ),
    );
    if (!theirs || !ours) throw new Error("nothing was measured");
    await baseline.check();
    rows.push({
      work: `batches of 1,000 keyed events, ${connections} connection${connections > 1 ? "s" : ""}`,
      against: "insert … select unnest(…) of the same rows",
      ours: ours.rate,
      theirs: theirs.rate,
      unit: "events/s",
      floor,
      aim: 0.8,
      latency: { ours: ours.latency, theirs: theirs.latency },
      rounds: { ours: ours.rates, theirs: theirs.rates },
    });
  }
  return rows;
}

/** Batches by svc_api.ingest. The bodies are ready texts. */
export function directVariant(
  connections: Sql[],
  { keyHash }: BenchDatabase,
  batches: number,
  customers?: number,
): Variant {
  return {
    name: "svc_api.ingest",
    prepare: () => nextBodies(batches, customers),
    run: async (bodies, latencies) => {
      await drain(bodies as string[], connections, latencies, async (body, sql) => {
        const { accepted } = await ingestBatch(sql, { keyHash, batchId: randomUUID(), repeated: false }, body);
        if (accepted !== BATCH) throw new Error(`${accepted} of ${BATCH} events were accepted`);
      });
      return batches * BATCH;
    },
  };
}

/** Opens pools of a single connection, one for each caller, so that every caller keeps its own connection. */
export async function withConnections<T>(
  { url }: BenchDatabase,
  connections: number,
  work: (connections: Sql[]) => Promise<T>,
): Promise<T> {
  const open = Array.from({ length: connections }, () =>
    connect(url, { max: 1, applicationName: "svc bench", statementTimeoutMs: 0 }),
  );
  try {
    return await work(open);
  } finally {
    for (const sql of open) await sql.end({ timeout: 5 });
  }
}
