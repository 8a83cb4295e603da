import { setTimeout as delay } from "node:timers/promises";
import { randomUUID } from "node:crypto";
import { ingestBatch } from "../../src/db/api/ingestion.js";
import type { BenchDatabase } from "../lib/database.js";
import { drain } from "../lib/measure.js";
import { withConnections } from "./batches.js";
import { BATCH, nextBodies } from "./bodies.js";

const DRAIN_MS_MAX = 120_000;

/** Ingests events as fast as possible, outside of any measurement. */
export async function fill(database: BenchDatabase, events: number, customers: number): Promise<void> {
  const { keyHash } = database;
  await withConnections(database, 4, async (connections) => {
    // In portions, because the bodies of a million events are too large for memory.
    for (let remaining = Math.ceil(events / BATCH); remaining > 0; remaining -= 50) {
      await drain(nextBodies(Math.min(remaining, 50), customers), connections, [], (body, sql) =>
        ingestBatch(sql, { keyHash, batchId: randomUUID(), repeated: false }, body),
      );
    }
  });
}

/** Waits until a worker has evaluated everything. */
export async function drainBacklog({ sql }: BenchDatabase): Promise<void> {
  const deadline = performance.now() + DRAIN_MS_MAX;
  while (performance.now() < deadline) {
    const [{ waits }] = await sql<[{ waits: boolean }]>`select exists (select from svc.inbox) as waits`;
    if (!waits) return;
    await delay(50);
  }
  throw new Error("the backlog is not evaluated");
}

/** Leaves the tables as after evaluation: history and keys, nothing pending. */
export async function emptyInbox({ sql }: BenchDatabase): Promise<void> {
  await sql`truncate svc.inbox`;
}
