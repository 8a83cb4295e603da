import { createHash, randomUUID } from "node:crypto";
import Table from "cli-table3";
import { pino } from "pino";
import type { Sql } from "postgres";
import { call } from "../src/db/api/call.js";
import { ingestBatch } from "../src/db/api/ingestion.js";
import { Models } from "../src/evaluation/models.js";
import { canonicalJson, hashSnapshot } from "../src/model/snapshot/canonical.js";
import type { Snapshot } from "../src/model/snapshot/types.js";
import { evaluateEnvironment } from "../src/tasks/evaluate/evaluate-environment.js";
import { nextBodies } from "./ingest/bodies.js";
import type { BenchDatabase } from "./lib/database.js";
import { SNAPSHOT } from "./lib/events.js";

const CUSTOMERS = 20_000;
/** A portion has one event of each customer, so that every event is evaluated separately, as in a service that keeps up. */
const BATCHES_IN_PORTION = 20;

/** The benchmarks' model with further parts whose results are stored as rows. */
const MODEL: Snapshot = {
  ...SNAPSHOT,
  health: {
    components: [
      {
        id: "usage",
        weight: 1,
        score: { kind: "scale", of: { kind: "count", of: { event: "feature_used" } }, from: 0, to: 20 },
      },
    ],
    bands: [
      { id: "healthy", from: 50 },
      { id: "critical", from: 0 },
    ],
  },
  rules: [
    {
      id: "first_time",
      on: {
        kind: "event",
        of: {
          event: "feature_used",
          where: { kind: "compare", property: "firstTime", operator: "eq", value: true },
        },
      },
      then: { kind: "emit", type: "feature.discovered" },
    },
  ],
};

/**
 * The disk space and write-ahead log (WAL) of events: bytes of each table's rows and indexes, and of the log for accepting and for
 * evaluating, with a checkpoint and without. Bytes do not depend on other load. Prints the figures; there is nothing to compare them with.
 */
export async function benchStorage(database: BenchDatabase, portions: number): Promise<void> {
  const { sql } = database;
  await prepare(database);
  await run(database, 1);
  const without = await run(database, portions);
  await sql`checkpoint`;
  const after = await run(database, portions);
  await addLaterRows(sql);
  await sql`vacuum (analyze)`;

  const events = (2 * portions + 1) * BATCHES_IN_PORTION * 1_000;
  const [server] = await sql<[{ version: string }]>`select current_setting('server_version') as version`;
  console.log(`PostgreSQL ${server.version}, ${whole(events)} events of ${whole(CUSTOMERS)} customers`);
  console.log(`${(await tablesOf(sql, events)).toString()}\n`);
  const log = table(["bytes of log per event", "accepting", "evaluating", "vacuuming"]);
  const perEvent = ({ accepting, evaluating, vacuuming }: Logged) =>
    [accepting, evaluating, vacuuming].map((bytes) => whole(bytes / (portions * BATCHES_IN_PORTION * 1_000)));
  log.push(["without a checkpoint", ...perEvent(without)]);
  log.push([`${portions * BATCHES_IN_PORTION},000 events after one`, ...perEvent(after)]);
  console.log(`${log.toString()}\n`);
}

/** Deploys the model, and creates a webhook for all emissions; no worker delivers. */
async function prepare({ sql, token, organizationId, environmentId }: BenchDatabase): Promise<void> {
  const by = { tokenHash: createHash("sha256").update(token).digest(), organizationId, requestId: "bench" };
  const version = {
    snapshot: canonicalJson(MODEL),
    hash: hashSnapshot(MODEL),
    provenance: null,
    expected: null,
    force: false,
  };
  await call(sql, "deploy_config", by, { project: "bench", environment: "test" }, version);
  await sql`
    insert into svc.webhooks (environment_id, webhook_id, url, event_types, sealed_secret)
    values (${environmentId}, svc.random_id('whk_'), 'https://example.com/', array['*'], '\\x00')`;
}

interface Logged {
  accepting: number;
  evaluating: number;
  /** What autovacuum would do, which is off here. */
  vacuuming: number;
}

async function run({ sql, keyHash, environmentId }: BenchDatabase, portions: number): Promise<Logged> {
  const dependencies = { sql, models: new Models(), settleSeconds: 30, logger: pino({ level: "silent" }) };
  const sum: Logged = { accepting: 0, evaluating: 0, vacuuming: 0 };
  for (let portion = 0; portion < portions; portion++) {
    const bodies = nextBodies(BATCHES_IN_PORTION, CUSTOMERS);
    sum.accepting += await logged(sql, async () => {
      for (const body of bodies) await ingestBatch(sql, { keyHash, batchId: randomUUID(), repeated: false }, body);
    });
    sum.evaluating += await logged(sql, () => evaluateEnvironment(dependencies, environmentId));
    sum.vacuuming += await logged(sql, () => sql`vacuum (analyze)`);
  }
  return sum;
}

/** The bytes that some work writes to the write-ahead log. */
async function logged(sql: Sql, work: () => PromiseLike<unknown>): Promise<number> {
  const position = async () => {
    const [row] = await sql<[{ bytes: string }]>`
      select pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0') as bytes`;
    return Number(row.bytes);
  };
  const before = await position();
  await work();
  return (await position()) - before;
}

/** Adds rows that would be written later: an attempt for each delivery, and the keys of events that retention removed. */
async function addLaterRows(sql: Sql): Promise<void> {
  await sql`
    insert into svc.delivery_attempts (environment_id, webhook_id, emission_seq, attempt, attempted_at, latency_ms, status_code)
    select environment_id, webhook_id, emission_seq, 1, now(), 40, 204 from svc.deliveries`;
  await sql`
    insert into svc.retired_keys (environment_id, retired_at, event_seq, customer_id, idempotency_key)
    select environment_id, now(), event_seq, customer_id, idempotency_key from svc.events`;
}

async function tablesOf(sql: Sql, events: number): Promise<Table.Table> {
  const names = await sql<{ name: string }[]>`
    select c.oid::regclass::text as name from pg_class as c
    where c.relnamespace = 'svc'::regnamespace and c.relkind = 'r'
      and exists (select from pg_attribute as a where a.attrelid = c.oid and a.attname = 'environment_id')
    order by pg_total_relation_size(c.oid) desc, name`;
  const report = table(["table", "rows", "rows per event", "bytes per row", "its indexes", "per event, both"]);
  for (const { name } of names) {
    const [size] = await sql<[{ rows: number; own: string; indexes: string }]>`
      select (select count(*)::int from ${sql(name)}) as rows, pg_table_size(${name}::regclass) as own,
        pg_indexes_size(${name}::regclass) as indexes`;
    // Figures of tables with few rows are meaningless.
    if (size.rows < CUSTOMERS / 100) continue;
    const [own, indexes] = [Number(size.own), Number(size.indexes)];
    report.push([
      name,
      size.rows,
      (size.rows / events).toFixed(3),
      whole(own / size.rows),
      whole(indexes / size.rows),
      whole((own + indexes) / events),
    ]);
  }
  return report;
}

const table = (head: string[]) => new Table({ head, style: { head: [], border: [] } });
const whole = (bytes: number) => Math.round(bytes).toLocaleString("en-US");
