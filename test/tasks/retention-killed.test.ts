import { afterAll, beforeAll, expect, it } from "vitest";
import { useDatabase } from "../support/database.js";
import { isCluster } from "../support/is-cluster.js";
import { startServiceProcess, type ServiceProcess } from "../support/service-process.js";
import { TestEnvironment } from "./support/environment.js";
import { Gate } from "./support/gate.js";

const BATCHES = 40;
const BATCH = 200;
/** From the second transaction of a sweep on, whose removals are not committed yet. */
const IN_THE_MIDDLE = "before update on svc.retention for each row when (old.events_removed > 0)";

const db = await useDatabase();
const running: ServiceProcess[] = [];

beforeAll(async () => {
  const { environmentId: id } = await TestEnvironment.create(db.sql);
  await db.sql`
    insert into svc.ingest_batches (environment_id, batch_seq, batch_id, accepted_at, tracked, identified, late)
    select ${id}, b, gen_random_uuid(), now() - interval '40 days', ${BATCH}, 0, false from generate_series(1, ${BATCHES}) as b`;
  await db.sql`
    insert into svc.events (environment_id, event_seq, customer_id, event, properties, occurred_at, accepted_at, idempotency_key)
    select ${id}, b * 1024 + n, 'c' || n % 10, 'login', '{}', now() - interval '40 days', now() - interval '40 days', 'k' || b || '-' || n
    from generate_series(1, ${BATCHES}) as b, generate_series(0, ${BATCH - 1}) as n`;
  await db.sql`
    insert into svc.idempotency_keys (environment_id, idempotency_key, payload_hash, event_seq, created_at)
    select environment_id, idempotency_key, 0, event_seq, accepted_at from svc.events`;
  await db.sql`update iam.plans set retention_days = 30`;
});
afterAll(() => Promise.all(running.map((worker) => worker.stop())));

/** A separate worker process that is requested to sweep now. */
async function sweepingWorker(): Promise<ServiceProcess> {
  await db.sql`select graphile_worker.add_job('sweep_retention')`;
  const worker = await startServiceProcess(db.url, {}, { role: "worker" });
  running.push(worker);
  return worker;
}

/** The number of events, and whether the data agrees: every event is kept, or removed with its key retired; a batch goes with its last event. */
async function state(): Promise<{ events: number; agree: boolean }> {
  const [row] = await db.sql<[{ events: number; agree: boolean }]>`
    select
      count(e.event_seq)::integer as events,
      bool_and((e.event_seq is null) = (r.event_seq is not null))
        and bool_and(k.event_seq is not null)
        and count(e.event_seq) = ${BATCHES * BATCH} - (select sum(events_removed) from svc.retention)
        and (select count(*) from svc.ingest_batches) * ${BATCH} = count(e.event_seq) as agree
    from generate_series(1, ${BATCHES}) as b cross join generate_series(0, ${BATCH - 1}) as n
    left join svc.events as e on e.event_seq = b * 1024 + n
    left join svc.retired_keys as r on r.event_seq = b * 1024 + n
    left join svc.idempotency_keys as k on k.event_seq = b * 1024 + n`;
  return row;
}

it.skipIf(isCluster)(
  "a worker that is killed in the middle of a removal leaves nothing half done, and the next one resumes",
  async () => {
    const gate = await Gate.close(db, IN_THE_MIDDLE);
    const killed = await sweepingWorker();
    expect(await gate.reached(killed.ended)).toBe(true);
    await killed.stop();
    // As if the machine had crashed too: its current transaction is not committed.
    await db.sql`
    select pg_terminate_backend(pid, 10000) from pg_stat_activity
    where datname = current_database() and application_name in ('svc worker', 'svc jobs')`;
    await gate.open();
    expect(await state()).toEqual({ events: (BATCHES - 5) * BATCH, agree: true });

    const next = await sweepingWorker();
    await expect.poll(async () => (await state()).events, { timeout: 60_000 }).toBe(0);
    expect(await state()).toEqual({ events: 0, agree: true });
    expect(await next.end()).toBe(0);
  },
  120_000,
);
