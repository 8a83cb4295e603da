import { beforeEach, describe, expect, it } from "vitest";
import { tick } from "../../src/db/api/evaluation.js";
import { createLogger } from "../../src/server/log.js";
import { periodicJobs } from "../../src/tasks/periodic-jobs.js";
import { happened, inactiveFor, snapshotOf } from "../engine/support/builders.js";
import { useDatabase } from "../support/database.js";
import { isCluster } from "../support/is-cluster.js";
import { waitingForLock } from "../support/locks.js";
import { runLog } from "../support/run-log.js";
import { TestEnvironment } from "./support/environment.js";
import { startTestWorker } from "./support/worker.js";

const MODEL = snapshotOf({
  states: { new: [["activated", happened("login")]], activated: [["quiet", inactiveFor("21d")]], quiet: [] },
});
const SETTLE = 30;

const db = await useDatabase();
const options = { sql: db.sql, attemptDays: 30, logger: runLog() };
const PERIODIC = Object.keys(periodicJobs(options, new AbortController().signal));

beforeEach(async () => {
  // No operation or timer of one test is left to the next.
  await db.sql`truncate svc.inbox, svc.customers, svc.ingest_batches, svc.workers`;
  await db.sql`delete from graphile_worker._private_jobs`;
});

function ago(seconds: number): string {
  return new Date(Date.now() - seconds * 1_000).toISOString();
}

const jobs = () => db.sql<{ id: string; environment: number; locked_by: string | null }[]>`
  select j.id, (p.payload ->> 'environmentId')::integer as environment, j.locked_by
  from graphile_worker.jobs as j
  join graphile_worker._private_jobs as p on p.id = j.id
  where j.task_identifier = 'evaluate'
  order by j.id`;

it("ingest calls request evaluation only once until a worker takes the job", async () => {
  const environment = await TestEnvironment.create(db.sql, MODEL);
  const other = await TestEnvironment.create(db.sql, MODEL);
  for (let i = 0; i < 3; i++) await environment.ingest([{ at: ago(0), event: "login" }]);
  expect(await jobs()).toMatchObject([{ environment: environment.environmentId, locked_by: null }]);
  await other.ingest([{ at: ago(0), event: "login" }]);
  expect((await jobs()).map((job) => job.environment)).toEqual([environment.environmentId, other.environmentId]);

  const [first] = await jobs();
  await db.sql`update graphile_worker._private_jobs set locked_by = 'w', locked_at = now() where id = ${first!.id}`;
  for (let i = 0; i < 2; i++) await environment.ingest([{ at: ago(0), event: "login" }]);
  expect((await jobs()).filter((job) => job.environment === environment.environmentId)).toMatchObject([
    { locked_by: "w" },
    { locked_by: null },
  ]);
});

it("the tick requests evaluation only where operations wait without a job", async () => {
  const environment = await TestEnvironment.create(db.sql, MODEL);
  await TestEnvironment.create(db.sql, MODEL);
  await environment.ingest([{ at: ago(0), event: "login" }]);
  await db.sql`delete from graphile_worker._private_jobs`; // as if it had been taken just before the rows were visible
  expect(await tick(db.sql, "w", SETTLE)).toBe(1);
  expect(await jobs()).toMatchObject([{ environment: environment.environmentId }]);
  await tick(db.sql, "w", SETTLE);
  expect(await jobs()).toHaveLength(1);
  // A failed job whose next attempt is far off does not replace a new request.
  await db.sql`update graphile_worker._private_jobs set run_at = now() + interval '1 hour', attempts = 3`;
  expect(await tick(db.sql, "w", SETTLE)).toBe(1);
  expect(await jobs()).toHaveLength(2);
  await environment.evaluate();
  await db.sql`delete from graphile_worker._private_jobs`;
  expect(await tick(db.sql, "w", SETTLE)).toBe(0);
  expect(await jobs()).toEqual([]);
});

it("where every evaluation fails, neither ingest calls nor ticks add a job before the next attempt at the failed one", async () => {
  const environment = await TestEnvironment.create(db.sql, MODEL);
  await environment.ingest([{ at: ago(0), event: "login" }]);
  // As graphile-worker leaves a job that has failed twice.
  await db.sql`update graphile_worker._private_jobs set run_at = now() + interval '7 seconds', attempts = 2`;
  await environment.ingest([{ at: ago(0), event: "login" }]);
  await tick(db.sql, "w", SETTLE);
  expect(await jobs()).toHaveLength(1);
});

it("the tick requests evaluation where a timer or a future event is due", async () => {
  const environment = await TestEnvironment.create(db.sql, MODEL);
  const day = 24 * 60 * 60;
  await environment.take({}, [{ at: ago(21 * day - 60), event: "login" }]);
  expect(await tick(db.sql, "w", SETTLE)).toBe(0);
  await db.sql`
    update svc.customers set next_due_at = ${ago(60)}::text::timestamptz
    where environment_id = ${environment.environmentId}`;
  expect(await tick(db.sql, "w", SETTLE)).toBe(1);
  await db.sql`update svc.customers set set_aside_at = now() where environment_id = ${environment.environmentId}`;
  expect(await tick(db.sql, "w", SETTLE), "it is set aside").toBe(0);
});

it("the tick ignores the timers of a backfill until the environment has settled, for at most 24 hours", async () => {
  const environment = await TestEnvironment.create(db.sql, MODEL);
  const backdate = async (seconds: number) => {
    await db.sql`
      update svc.ingest_batches set accepted_at = ${ago(seconds)}::text::timestamptz
      where environment_id = ${environment.environmentId}`;
  };
  await environment.take({}, [{ at: ago(0), event: "login", occurred: "2020-01-01T00:00:00.000Z" }]);
  expect(await environment.document()).toMatchObject({ lifecycle: "activated", nextDueAt: "2020-01-22T00:00:00.000Z" });
  expect(await tick(db.sql, "w", SETTLE)).toBe(0);
  await backdate(31);
  expect(await tick(db.sql, "w", SETTLE)).toBe(1);
  await backdate(0);
  expect(await tick(db.sql, "w", SETTLE)).toBe(0);
  await backdate(-3_600);
  expect(await tick(db.sql, "w", SETTLE), "accepted before the database's clock was set back").toBe(1);
  await backdate(0);
  await db.sql`
    update svc.customers set held_until = ${ago(1)}::text::timestamptz
    where environment_id = ${environment.environmentId}`;
  expect(await tick(db.sql, "w", SETTLE)).toBe(1);
});

it("jobs of a worker that was silent for 30 seconds are unlocked, those of others are not", async () => {
  const environment = await TestEnvironment.create(db.sql, MODEL);
  await environment.ingest([{ at: ago(0), event: "login" }]);
  await tick(db.sql, "dead", SETTLE);
  await db.sql`update graphile_worker._private_jobs set locked_by = 'dead', locked_at = ${ago(40)}::text::timestamptz`;
  await tick(db.sql, "alive", SETTLE);
  expect(
    (await jobs()).map((job) => job.locked_by),
    "evaluation does not wait for it",
  ).toEqual(["dead", null]);

  await db.sql`update svc.workers set seen_at = ${ago(31)}::text::timestamptz where worker_id = 'dead'`;
  await tick(db.sql, "alive", SETTLE);
  expect((await jobs()).map((job) => job.locked_by)).toEqual([null, null]);
  expect(await db.sql`select worker_id from svc.workers`).toEqual([{ worker_id: "alive" }]);

  // A worker that was killed before its first heartbeat.
  await db.sql`update graphile_worker._private_jobs set locked_by = 'unknown', locked_at = ${ago(31)}::text::timestamptz`;
  await tick(db.sql, "alive", SETTLE);
  expect((await jobs()).map((job) => job.locked_by)).toEqual([null, null]);
});

it("heartbeats and jobs from before the clock was set back count as written now: the jobs of a dead worker are unlocked", async () => {
  const { environmentId } = await TestEnvironment.create(db.sql, MODEL);
  await db.sql`select svc.request_evaluation(array[${environmentId}]::integer[])`;
  await db.sql`update graphile_worker._private_jobs set locked_by = 'dead', locked_at = now() + interval '1 day'`;
  await db.sql`insert into svc.workers (worker_id, seen_at) values ('dead', now() + interval '1 day')`;
  expect(await db.sql`select alive from svc_inspect.workers`, "without another worker").toEqual([{ alive: false }]);
  await tick(db.sql, "alive", SETTLE);
  expect(await jobs(), "it may write its next heartbeat within a second").toMatchObject([{ locked_by: "dead" }]);
  await db.sql`update svc.workers set seen_at = seen_at - interval '31 seconds' where worker_id = 'dead'`;
  await tick(db.sql, "alive", SETTLE);
  expect(await jobs()).toMatchObject([{ locked_by: null }]);
});

describe("a periodic job", () => {
  const periodic = (task = "sweep_iam") => db.sql<{ attempts: number; due: number; id: string }[]>`
    select attempts, extract(epoch from run_at - date_trunc('hour', now()))::float8 / 60 as due, id
    from graphile_worker._private_jobs where key = ${task}`;
  const change = (values: string) => db.sql.unsafe(`update graphile_worker._private_jobs set ${values}`);
  const isStillThere = async () => {
    const [before] = await periodic();
    await tick(db.sql, "w", SETTLE);
    expect(await periodic()).toEqual([before]);
  };

  it("is queued once, for its next time", async () => {
    for (let n = 0; n < 3; n++) await tick(db.sql, "w", SETTLE);
    const minute = (Date.now() / 60_000) % 60;
    for (const [task, period, phase] of [
      ["count_trends", 1, 0],
      ["sweep_iam", 10, 0],
      ["sweep_retention", 10, 8],
    ] as const) {
      const [job, ...others] = await periodic(task);
      expect([(job!.due - phase) % period, others]).toEqual([0, []]);
      expect(Math.abs(job!.due - minute - period / 2), task).toBeLessThanOrEqual(period / 2 + 1);
    }
    await Promise.all(Array.from({ length: 5 }, () => tick(db.sql, "w", SETTLE)));
    const queued = await db.sql<{ task: string }[]>`select task_identifier as task from graphile_worker.jobs`;
    expect(queued.map(({ task }) => task).sort()).toEqual(PERIODIC.toSorted());
  });

  it("is left alone while it waits, runs or is tried again, and queued anew once it is done", async () => {
    await tick(db.sql, "w", SETTLE);
    for (const values of [
      "run_at = now() - interval '2 days'",
      "attempts = 1, run_at = now() + interval '20 seconds'",
      "attempts = 3, locked_at = now(), locked_by = 'w'",
    ]) {
      await change(values);
      await isStillThere();
    }
    await db.sql`delete from graphile_worker._private_jobs`;
    await tick(db.sql, "w", SETTLE);
    expect(await periodic()).toMatchObject([{ attempts: 0 }]);
  });

  it("that failed for good stays for its period, to be seen", async () => {
    await tick(db.sql, "w", SETTLE);
    await change("attempts = 3, run_at = now() - interval '9 minutes'");
    await isStillThere();
    await change("run_at = now() - interval '11 minutes'");
    await tick(db.sql, "w", SETTLE);
    expect(await periodic()).toMatchObject([{ attempts: 0 }]);
    expect(await db.sql`select from graphile_worker.jobs`, "and no other is left").toHaveLength(5);
  });

  it("that was queued before the clock was set back is queued for its next time", async () => {
    await tick(db.sql, "w", SETTLE);
    const [before] = await periodic();
    await change("run_at = run_at + interval '1 day'");
    await tick(db.sql, "w", SETTLE);
    expect(await periodic()).toMatchObject([{ due: before!.due }]);
  });
});

it("jobs of another application in the queue's schema stay with its workers, which have no heartbeat here", async () => {
  const { environmentId } = await TestEnvironment.create(db.sql, MODEL);
  await db.sql`
    select graphile_worker.add_job(name, json_build_object('environmentId', ${environmentId}::integer))
    from unnest(${["charge_card", "evaluate", "recompute", ...PERIODIC]}::text[]) as name`;
  await db.sql`
    update graphile_worker._private_jobs set locked_by = 'w-' || task_id, locked_at = now() - interval '31 seconds'`;
  await tick(db.sql, "alive", SETTLE);
  expect(await db.sql`select task_identifier from graphile_worker.jobs where locked_by is not null`).toEqual([
    { task_identifier: "charge_card" },
  ]);
});

it("the service is unready while no worker has sent a heartbeat for 30 seconds", async () => {
  const reasons = () => db.sql`select svc_api.failed_checks('{}', '{}') as reasons`;
  await tick(db.sql, "w", SETTLE);
  expect(await reasons()).toEqual([{ reasons: [] }]);
  await db.sql`update svc.workers set seen_at = ${ago(31)}::text::timestamptz`;
  expect(await reasons()).toEqual([
    { reasons: [{ name: "worker", message: "No worker has sent a heartbeat for 30 seconds." }] },
  ]);
});

it.skipIf(isCluster)(
  "a worker still sends heartbeats if it cannot find waiting work, for example while a node is away",
  async () => {
    await db.sql`alter table svc.homes rename to homes_away`;
    try {
      await expect(tick(db.sql, "w", SETTLE)).rejects.toMatchObject({ code: "42P01" });
    } finally {
      await db.sql`alter table svc.homes_away rename to homes`;
    }
    expect(await db.sql`select worker_id from svc.workers`).toEqual([{ worker_id: "w" }]);
  },
);

it("the first tick in a new database and the job runner that starts beside it do not wait for each other", async () => {
  await db.sql`delete from graphile_worker._private_tasks`;
  const failures: string[] = [];
  const logger = createLogger("error", { write: (line) => void failures.push(line) });
  await db.sql.begin(async (tx) => {
    // Both add the names of tasks, and are held up at this one.
    await tx`insert into graphile_worker._private_tasks (identifier) values ('sweep_retention')`;
    await startTestWorker(db, { logger });
    await expect.poll(() => waitingForLock(tx)).toBe(2);
  });
  const queued = () => db.sql<{ key: string }[]>`select key from graphile_worker.jobs where key is not null`;
  await expect
    .poll(async () => (await queued()).map(({ key }) => key).sort(), { timeout: 20_000 })
    .toEqual(PERIODIC.toSorted());
  expect(failures).toEqual([]);
});
