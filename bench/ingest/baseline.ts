import { randomUUID } from "node:crypto";
import type { Sql } from "postgres";
import type { BenchDatabase } from "../lib/database.js";
import type { KeyedEvent } from "../lib/events.js";
import { drain, type Variant } from "../lib/measure.js";
import { BATCH, nextBatches } from "./bodies.js";

const TABLES = ["events", "idempotency_keys", "inbox", "ingest_batches"];

export interface Baseline {
  variant(connections: Sql[], batches: number): Variant;
  /** Throws unless the copies hold as many rows as the tables, which must have been filled alike. */
  check(): Promise<void>;
}

/**
 * What a careful program without our rules would do: one `insert … select unnest(…)` per table, all in one transaction that is sent without
 * waiting in between. The parameters are serialized before the measured time, like the bodies of our side. The tables are copies with all
 * indexes and constraints, without the trigger that requests evaluation.
 */
export async function openBaseline({ sql, environmentId }: BenchDatabase): Promise<Baseline> {
  await sql.unsafe(`
    create schema bench;
    ${TABLES.map((table) => `create table bench.${table} (like svc.${table} including all);`).join("\n")}
  `);
  let batchCount = 0;
  return {
    variant: (connections, batches) => ({
      name: "insert … select unnest",
      prepare: () => nextBatches(batches).map((events) => parametersOf(events, ++batchCount, environmentId)),
      run: async (work, latencies) => {
        await drain(work as Parameters[], connections, latencies, (batch, sql) => insert(sql, batch));
        return batches * BATCH;
      },
    }),
    check: async () => {
      for (const table of TABLES) {
        const [{ ours, theirs }] = await sql<[{ ours: string; theirs: string }]>`
          select (select count(*) from ${sql(`svc.${table}`)}) as ours, (select count(*) from ${sql(`bench.${table}`)}) as theirs`;
        if (ours !== theirs) throw new Error(`svc.${table} has ${ours} rows, its copy ${theirs}`);
      }
    },
  };
}

/** A batch as array literals. */
interface Parameters {
  environmentId: number;
  batchSeq: number;
  batchId: string;
  now: string;
  count: number;
  seqs: string;
  keys: string;
  customers: string;
  events: string;
  properties: string;
  occurred: string;
}

function parametersOf(events: KeyedEvent[], batchSeq: number, environmentId: number): Parameters {
  return {
    environmentId,
    batchSeq,
    batchId: randomUUID(),
    now: new Date().toISOString(),
    count: events.length,
    seqs: literal(events.map((_, position) => String(batchSeq * 1024 + position))),
    keys: literal(events.map((event) => event.idempotencyKey)),
    customers: literal(events.map((event) => event.customerId)),
    events: literal(events.map((event) => event.event)),
    properties: literal(events.map((event) => JSON.stringify(event.properties))),
    occurred: literal(events.map((event) => event.timestamp)),
  };
}

function literal(values: string[]): string {
  return `{${values.map((value) => `"${value.replace(/["\\]/g, "\\$&")}"`).join(",")}}`;
}

/** Stores the sequence number in place of the payload's hash, which has the same size. */
async function insert(sql: Sql, batch: Parameters): Promise<void> {
  const { environmentId, seqs, customers, now } = batch;
  const answers = await Promise.allSettled([
    sql`begin`,
    sql`insert into bench.idempotency_keys (environment_id, idempotency_key, payload_hash, event_seq, created_at)
      select ${environmentId}::integer, k, s, s, ${now}::timestamptz
      from unnest(${batch.keys}::text[], ${seqs}::bigint[]) as t (k, s)`,
    sql`insert into bench.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at, idempotency_key)
      select ${environmentId}::integer, s, c, e, p, o, ${now}::timestamptz, k
      from unnest(
        ${seqs}::bigint[], ${customers}::text[], ${batch.events}::text[], ${batch.properties}::jsonb[],
        ${batch.occurred}::timestamptz[], ${batch.keys}::text[]
      ) as t (s, c, e, p, o, k)`,
    sql`insert into bench.inbox (environment_id, customer_id, seq)
      select ${environmentId}::integer, c, s from unnest(${customers}::text[], ${seqs}::bigint[]) as t (c, s)`,
    sql`insert into bench.ingest_batches (environment_id, batch_seq, batch_id, accepted_at, tracked, identified, late)
      values (${environmentId}, ${batch.batchSeq}, ${batch.batchId}, ${now}::timestamptz, ${batch.count}, 0, false)`,
    sql`commit`,
  ]);
  const failed = answers.find((answer) => answer.status === "rejected");
  if (failed) throw failed.reason;
}
