import { pino } from "pino";
import { afterEach, describe, expect, it } from "vitest";
import { connect } from "../../src/db/connect.js";
import { call } from "../../src/db/api/call.js";
import type { Installation } from "../../src/db/api/monitoring.js";
import { tick } from "../../src/db/api/evaluation.js";
import { renderInstallation } from "../../src/metrics/installation.js";
import { ATTEMPTS, EVALUATED, EVALUATION_DELAY, WorkerCounters } from "../../src/metrics/worker-metrics.js";
import { startCounterFlush } from "../../src/tasks/worker.js";
import { runLog } from "../support/run-log.js";
import { useDatabase } from "../support/database.js";
import { createEnvironment, createWebhook, emit } from "../webhooks/support/fixtures.js";
import { readSamples } from "./support/observed.js";
import { isCluster } from "../support/is-cluster.js";
import { waitingForLock } from "../support/locks.js";
import { startWorker } from "../support/worker-role.js";

const db = await useDatabase();

const read = () => call(db.sql, "metrics");
const shown = async () => readSamples(await renderInstallation(await read()));

describe("svc_api.metrics()", () => {
  it("returns all figures of an empty installation", async () => {
    expect(await read()).toEqual({
      pendingOperations: 0,
      oldestPendingSeconds: 0,
      setAsideCustomers: 0,
      quarantinedOperations: 0,
      jobs: [],
      workers: 0,
      recomputes: [],
      recomputeCustomers: { all: 0, done: 0 },
      deliveries: { pending: 0, oldestDueSeconds: 0 },
      webhooks: { disabled: 0, failing: 0 },
      connections: [
        ...(isCluster ? [{ application: "other", connections: expect.any(Number) }] : []), // Citus's own
        { application: "svc test", connections: expect.any(Number) },
      ],
      connectionsMax: expect.any(Number),
      counters: [],
    } satisfies Installation);
  });

  it("finds the oldest pending operation of all environments, except those on hold", async () => {
    const [a, b] = [await createEnvironment(db.sql), await createEnvironment(db.sql)];
    const accept = (environment: number, batch: number, age: string) => db.sql`
      insert into svc.ingest_batches (environment_id, batch_seq, batch_id, accepted_at, tracked, identified, late)
      values (${environment}, ${batch}, gen_random_uuid(), now() - ${age}::interval, 1, 0, false)`;
    const wait = (environment: number, batch: number, notBefore: string | null, late = false) => db.sql`
      insert into svc.inbox (environment_id, customer_id, seq, not_before, late)
      values (${environment}, 'c', ${batch * 1024}, ${notBefore}::text::timestamptz, ${late})`;
    await accept(a, 1, "10 days");
    await wait(a, 1, "infinity");
    await accept(a, 2, "1 minute");
    await wait(a, 2, null);
    await accept(b, 3, "1 hour");
    await wait(b, 3, null, true);
    const { pendingOperations, oldestPendingSeconds } = await read();
    expect(pendingOperations).toBe(2);
    expect(Math.round(oldestPendingSeconds / 60)).toBe(60);
    await db.sql`truncate svc.inbox, svc.ingest_batches`;
  });

  it("counts jobs by task and state", async () => {
    await db.sql`delete from graphile_worker._private_jobs`;
    await db.sql`select graphile_worker.add_job('ready')`;
    await db.sql`select graphile_worker.add_job('later', run_at := now() + interval '1 hour')`;
    await db.sql`select graphile_worker.add_job('given_up')`;
    await db.sql`select graphile_worker.add_job('running')`;
    await db.sql`
      update graphile_worker._private_jobs as j set attempts = j.max_attempts
      from graphile_worker._private_tasks as t where t.id = j.task_id and t.identifier = 'given_up'`;
    await db.sql`
      update graphile_worker._private_jobs as j set locked_at = now(), locked_by = 'w', attempts = j.max_attempts
      from graphile_worker._private_tasks as t where t.id = j.task_id and t.identifier = 'running'`;
    const { jobs } = await read();
    expect(jobs.toSorted((x, y) => (x.task < y.task ? -1 : 1))).toEqual([
      { task: "given_up", state: "failed", jobs: 1 },
      { task: "later", state: "waiting", jobs: 1 },
      { task: "ready", state: "ready", jobs: 1 },
      { task: "running", state: "running", jobs: 1 },
    ]);
  });

  it("counts live workers, and customers that were set aside", async () => {
    await tick(db.sql, "alive", 0);
    await db.sql`insert into svc.workers (worker_id, seen_at) values ('dead', now() - interval '31 seconds')`;
    const environment = await createEnvironment(db.sql);
    await db.sql`
      insert into svc.customers (environment_id, customer_id, created_at, set_aside_at)
      values (${environment}, 'a', now(), now()), (${environment}, 'b', now(), null)`;
    expect(await read()).toMatchObject({ workers: 1, setAsideCustomers: 1 });
  });

  it("adds up unfinished recomputes, and reports one that was given up for a day, but none that was cancelled", async () => {
    const environment = await createEnvironment(db.sql);
    await db.sql`
      insert into svc.recomputes
        (environment_id, recompute_id, kind, pinned_at, status, customers_total, customers_done, failures, requested_by, finished_at)
      select ${environment}, r.id, 'recompute', now(), r.status, 100, r.done, r.failures, 'ada', now() - r.finished
      from (
        values ('running', 'running', 40, 0, null::interval), ('queued', 'queued', 0, 0, null),
          ('completed', 'completed', 100, 0, '1 minute'), ('dead', 'dead_letter', 10, 1, '1 hour'),
          ('long dead', 'dead_letter', 10, 1, '25 hours'), ('cancelled', 'dead_letter', 10, 0, '1 hour')
      ) as r (id, status, done, failures, finished)`;
    const { recomputes, recomputeCustomers } = await read();
    expect(recomputeCustomers).toEqual({ all: 200, done: 40 });
    const kind = "recompute";
    expect(recomputes.toSorted((x, y) => (x.status < y.status ? -1 : 1))).toEqual(
      ["dead_letter", "queued", "running"].map((status) => ({ kind, status, recomputes: 1 })),
    );
  });

  it("counts deliveries of enabled webhooks only", async () => {
    const environment = await createEnvironment(db.sql);
    const hooks: string[] = [];
    for (let n = 0; n < 3; n += 1)
      hooks.push((await createWebhook(db.sql, environment, "https://example.com", ["*"])).webhookId);
    await emit(db.sql, environment, [{}, {}]);
    for (const [n, age] of ["1 day", "1 hour", "-1 hour"].entries())
      await db.sql`update svc.deliveries set next_attempt_at = now() - ${age}::interval where webhook_id = ${hooks[n]!}`;
    await db.sql`
      update svc.webhooks set disabled_at = now(), disabled_reason = 'The endpoint answered 410 Gone.'
      where webhook_id = ${hooks[0]!}`;
    await db.sql`update svc.webhooks set failing_since = now() where webhook_id = ${hooks[1]!}`;
    const { deliveries, webhooks } = await read();
    expect(webhooks).toEqual({ disabled: 1, failing: 1 });
    expect(deliveries.pending).toBe(4);
    expect(Math.round(deliveries.oldestDueSeconds / 60)).toBe(60);
  });

  // The estimate works on a single server only.
  it.skipIf(isCluster)("counts pending rows up to ten thousand, and uses the database's estimate beyond", async () => {
    const environment = await createEnvironment(db.sql);
    await db.sql`
      insert into svc.inbox (environment_id, customer_id, seq) select ${environment}, 'c', g from generate_series(1, 25000) as g`;
    // The estimate is from the statistics, to which each connection adds its changes up to ten seconds later: changes of these rows, or of
    // an earlier truncate, that are not reported yet make it wrong until the table is analyzed again.
    const counted = async () => {
      await db.sql`analyze svc.inbox`;
      return (await read()).pendingOperations;
    };
    await expect.poll(counted).toBe(25_000);
    await db.sql`truncate svc.inbox`;
  });

  it("omits a frozen environment, whose rows are pending where it moved to", async () => {
    const waiting = async () => {
      const { pendingOperations, setAsideCustomers, quarantinedOperations, deliveries, webhooks, ...of } = await read();
      const isOld = of.oldestPendingSeconds > 86_400 || deliveries.oldestDueSeconds > 86_400;
      const operations = [pendingOperations, setAsideCustomers, quarantinedOperations];
      return [...operations, deliveries.pending, webhooks.disabled, webhooks.failing, isOld];
    };
    const before = await waiting();
    const environment = await createEnvironment(db.sql);
    await db.sql`
      insert into svc.ingest_batches (environment_id, batch_seq, batch_id, accepted_at, tracked, identified, late)
      values (${environment}, 1, gen_random_uuid(), now() - interval '1 year', 1, 0, false)`;
    await db.sql`insert into svc.inbox (environment_id, customer_id, seq) values (${environment}, 'c', 1024)`;
    await db.sql`
      insert into svc.customers (environment_id, customer_id, created_at, set_aside_at) values (${environment}, 'c', now(), now())`;
    await db.sql`insert into svc.quarantines (environment_id, operations, bytes) values (${environment}, 5, 500)`;
    for (const isDisabled of [true, false]) {
      const { webhookId } = await createWebhook(db.sql, environment, "https://example.com");
      await db.sql`
        update svc.webhooks set
          failing_since = now(), disabled_at = ${isDisabled ? "now" : null}::text::timestamptz,
          disabled_reason = ${isDisabled ? "The endpoint answered 410 Gone." : null}
        where webhook_id = ${webhookId}`;
    }
    await emit(db.sql, environment, [{}]);
    await db.sql`update svc.deliveries set next_attempt_at = now() - interval '1 year' where environment_id = ${environment}`;
    const figures = before.slice(0, -1).map(Number);
    expect(await waiting()).toEqual([...figures.map((figure, n) => figure + [1, 1, 5, 1, 1, 1][n]!), true]);
    await db.sql`update svc.environments set frozen_at = now() where environment_id = ${environment}`;
    expect(await waiting()).toEqual(before);
    await db.sql`truncate svc.inbox`;
  });
});

describe("the counts of workers", () => {
  afterEach(() => db.sql`truncate svc.worker_counters`);

  it("are added up over workers and calls", async () => {
    for (let worker = 0; worker < 2; worker++) {
      const counters = new WorkerCounters();
      counters.count(EVALUATED, [], 5);
      counters.count(ATTEMPTS, ["accepted"]);
      counters.observe(EVALUATION_DELAY, 0.03);
      counters.observe(EVALUATION_DELAY, 2000);
      await call(db.sql, "add_worker_counters", counters.take());
    }
    const samples = await shown();
    const value = (name: string, labels: Record<string, string> = {}) =>
      samples.find((sample) => sample.name === name && Object.entries(labels).every(([l, v]) => sample.labels[l] === v))
        ?.value;
    expect(value("svc_evaluated_operations_total")).toBe(10);
    expect(value("svc_webhook_attempts_total", { outcome: "accepted" })).toBe(2);
    const bucket = (le: string) => value("svc_ingest_to_evaluated_seconds_bucket", { le });
    expect([bucket("0.025"), bucket("0.05"), bucket("1800"), bucket("+Inf")]).toEqual([0, 2, 2, 4]);
    expect(value("svc_ingest_to_evaluated_seconds_count")).toBe(4);
    expect(value("svc_ingest_to_evaluated_seconds_sum")).toBeCloseTo(4000.06);
  });

  it("of another version, with other buckets and counters, do no harm", async () => {
    await call(db.sql, "add_worker_counters", [
      { counter: EVALUATION_DELAY.name, label: "", bucket: "0.033", value: 1 },
      { counter: "svc_of_a_later_version_total", label: "x/y", bucket: "", value: 1 },
    ]);
    const samples = await shown();
    const buckets = samples.filter(({ name }) => name === "svc_ingest_to_evaluated_seconds_bucket");
    expect(buckets.filter(({ value }) => value === 1).map(({ labels }) => labels["le"])[0]).toBe("0.05");
    expect(samples.filter(({ name }) => name.includes("later"))).toEqual([]);
  });

  it("are stored when a worker stops, however briefly it ran", async () => {
    const worker = await startWorker(db.url, pino({ level: "silent" }), "a secret of the tests of metrics");
    await worker.stop();
    const ticks = (await shown()).find(({ name }) => name === "svc_tick_duration_seconds_count");
    expect(ticks?.value).toBeGreaterThan(0);
  });

  it("are stored when a worker stops, also those of the time while it was writing", async () => {
    const counters = new WorkerCounters();
    const sql = connect(db.url, { max: 1, applicationName: "svc test flush" });
    let stopped: Promise<void> | undefined;
    await db.sql.begin(async (tx) => {
      await tx`lock table svc.worker_counters in access exclusive mode`;
      counters.count(EVALUATED, [], 5);
      const flush = startCounterFlush({ sql, counters, logger: runLog(), everyMs: 1 });
      await expect.poll(() => waitingForLock(db.sql, "svc test flush")).toBe(1);
      counters.count(EVALUATED, [], 2);
      stopped = flush.stop();
    });
    await stopped;
    await sql.end();
    expect(await db.sql`select sum(value)::integer as sum from svc.worker_counters`).toEqual([{ sum: 7 }]);
  });

  it("are kept if they could not be written", () => {
    const counters = new WorkerCounters();
    counters.count(EVALUATED, [], 5);
    const taken = counters.take();
    counters.count(EVALUATED, [], 2);
    counters.giveBack(taken);
    expect(counters.take()).toEqual([{ counter: EVALUATED.name, label: "", bucket: "", value: 7 }]);
    expect(counters.take()).toEqual([]);
  });

  it("are added by concurrent workers without deadlock", async () => {
    const indices = Array.from({ length: 50 }, (_, index) => String(index));
    const rows = indices.map((label) => ({ counter: "c", label, bucket: "", value: 1 }));
    await Promise.all(
      Array.from({ length: 8 }, (_, worker) =>
        call(db.sql, "add_worker_counters", worker % 2 ? rows : rows.toReversed()),
      ),
    );
    expect(await db.sql`select sum(value)::integer as sum from svc.worker_counters`).toEqual([{ sum: 400 }]);
  });
});
