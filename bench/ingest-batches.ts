import { randomUUID } from "node:crypto";
import type { Sql } from "postgres";
import { ingestBatch } from "../src/db/calls-ingest.js";
import type { BenchDatabase } from "./lib/database.js";
import { nextEvents, type KeyedEvent } from "./lib/events.js";
import { drain, measure } from "./lib/measure.js";
import type { Row } from "./lib/report.js";

const BATCH = 1_000;

/** Batches of 1,000 keyed events under a strict schema, beside the same rows by one `insert … select unnest(…)` per table. */
export async function benchIngestBatches(
  { sql, keyHash }: BenchDatabase,
  rounds: number,
  batches: number,
): Promise<Row[]> {
  await createBaselineTables(sql);
  const rows: Row[] = [];
  for (const [connections, floor] of [
    [1, 0.6],
    [4, 0.55],
  ] as const) {
    const prepare = () => Array.from({ length: batches }, () => nextEvents(BATCH)).map(withBody);
    const [baseline, ours] = await measure(
      [
        {
          name: "insert … select unnest",
          prepare,
          run: async (work) => {
            await drain(work, connections, ({ events }) => insertBaseline(sql, events));
            return batches * BATCH;
          },
        },
        {
          name: "svc_api.ingest",
          prepare,
          run: async (work) => {
            await drain(work, connections, ({ body }) =>
              ingestBatch(sql, { keyHash, batchId: randomUUID(), repeated: false }, body),
            );
            return batches * BATCH;
          },
        },
      ],
      rounds,
    );
    if (!baseline || !ours) throw new Error("nothing was measured");
    rows.push({
      work: `batches of 1,000 keyed events, ${connections} connection${connections > 1 ? "s" : ""}`,
      against: "insert … select unnest(…) of the same rows",
      ours: ours.rate,
      theirs: baseline.rate,
      unit: "events/s",
      floor,
      aim: 0.8,
      rounds: { ours: ours.rates, theirs: baseline.rates },
    });
  }
  return rows;
}

/** A batch in the form that each side starts from. */
function withBody(events: KeyedEvent[]): { events: KeyedEvent[]; body: string } {
  return { events, body: JSON.stringify({ events }) };
}

/** Copies of the tables with their indexes and constraints, and without their triggers. */
async function createBaselineTables(sql: Sql): Promise<void> {
  await sql.unsafe(`
    create schema if not exists bench;
    create table bench.events (like svc.events including all);
    create table bench.idempotency_keys (like svc.idempotency_keys including all);
    create table bench.inbox (like svc.inbox including all);
    create table bench.ingest_batches (like svc.ingest_batches including all);
  `);
}

let baselineBatches = 0;

/** What a careful program without our rules would do: one statement a table, arrays as parameters, one transaction, pipelined. */
async function insertBaseline(sql: Sql, events: KeyedEvent[]): Promise<void> {
  const batch = ++baselineBatches;
  const now = new Date().toISOString();
  const seqs = events.map((_, position) => batch * 1024 + position);
  const customers = events.map((event) => event.customerId);
  await sql.begin((tx) => [
    tx`insert into bench.idempotency_keys
      select 1, k, h, s, ${now}::timestamptz
      from unnest(${events.map((event) => event.idempotencyKey)}::text[], ${seqs}::bigint[], ${seqs}::bigint[]) as t (k, h, s)`,
    tx`insert into bench.events
      select 1, s, c, e, p, o, ${now}::timestamptz
      from unnest(
        ${seqs}::bigint[], ${customers}::text[], ${events.map((event) => event.event)}::text[],
        ${events.map((event) => JSON.stringify(event.properties))}::text[]::jsonb[],
        ${events.map((event) => event.timestamp)}::text[]::timestamptz[]
      ) as t (s, c, e, p, o)`,
    tx`insert into bench.inbox select 1, c, s from unnest(${customers}::text[], ${seqs}::bigint[]) as t (c, s)`,
    tx`insert into bench.ingest_batches values (1, ${batch}, ${randomUUID()}, ${now}::timestamptz, ${events.length}, 0, false)`,
  ]);
}
