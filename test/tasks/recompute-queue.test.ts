import { pino } from "pino";
import { afterEach, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { call } from "../../src/db/api/call.js";
import type { RecomputeJob } from "../../src/db/api/recompute.js";
import { createDatabase, useDatabase } from "../support/database.js";
import { changeTriggers } from "../support/triggers.js";
import { TestEnvironment } from "./support/environment.js";
import { derived, everything } from "./support/kept.js";
import { CHANGED, customersOf, MODEL, outdated, POPULATION_THROUGH as AT } from "./support/population.js";
import {
  differencesOf,
  isOver,
  jobOf,
  JobRunner,
  queue as put,
  recomputer,
  untilJob,
  type QueueOptions,
} from "./support/recompute.js";

const db = await useDatabase();
const first = new JobRunner(db);
const second = new JobRunner(db);

afterEach(async () => {
  await Promise.all([first.end(), second.end()]);
  await db.sql`delete from svc.recomputes`;
});

const populated = (amount: number) => outdated(db.sql, amount);

/** As many as are not done in one chunk. */
const AMOUNT = 45;
let undisturbed: object;
beforeAll(async () => {
  const environment = await populated(AMOUNT);
  await queue(environment);
  await first.runNext();
  undisturbed = await derived(environment);
  for (const [table, rows] of Object.entries(undisturbed))
    if (table !== "blocked") expect((rows as string[]).length, table).toBeGreaterThan(AMOUNT / 4);
});

const queue = (environment: TestEnvironment, options: QueueOptions = {}) =>
  put(db.sql, environment, { at: AT, ...options });

async function claimed(runner: JobRunner, id: string): Promise<RecomputeJob> {
  // The environment that is served first is random.
  for (let tries = 0; tries < 100; tries++) {
    const job = await runner.claim();
    if (job === null) throw new Error("there is no job");
    if (job.recomputeId === id) return job;
    await runner.leave(job);
  }
  throw new Error("the job is never taken");
}

/** Makes a job's next attempt due now. */
const due = (id: string) => db.sql`update svc.recomputes set next_attempt_at = now() where recompute_id = ${id}`;

describe("the order of jobs", () => {
  it("a job waits while the one before it is retried, and runs when that is given up", async () => {
    const environment = await populated(3);
    const failing = await queue(environment);
    const behind = await queue(environment);
    for (const status of ["retrying", "retrying", "dead_letter"]) {
      const job = await claimed(first, failing);
      expect(await second.claim(), "while the first runs").toBeNull();
      expect(await first.fail(job, "It failed.", 3)).toBe(status);
      await first.leave(job);
      if (status === "dead_letter") break;
      await db.sql`update svc.recomputes set next_attempt_at = now() + interval '50 seconds' where recompute_id = ${failing}`;
      expect(await second.claim(), "while the first waits for its next attempt").toBeNull();
      await due(failing);
    }
    expect(await jobOf(db.sql, failing)).toMatchObject({ status: "dead_letter", attempt: 3, failures: 3 });
    await second.run(await claimed(second, behind));
    expect(await jobOf(db.sql, behind)).toMatchObject({ status: "completed", customers_done: 3 });
  });

  it("a job whose next attempt was put off before the database's clock was set back is tried at once", async () => {
    const id = await queue(await populated(1));
    await first.fail(await claimed(first, id), "It failed.");
    await db.sql`update svc.recomputes set next_attempt_at = now() + interval '1 day' where recompute_id = ${id}`;
    await first.run(await claimed(first, id));
    expect(await jobOf(db.sql, id)).toMatchObject({ status: "completed" });
  });

  it("a job delays neither other environments nor previews", async () => {
    const environment = await populated(3);
    const other = await populated(3);
    const ids = [await queue(environment), await queue(environment, { kind: "dry_run" })];
    const running = await claimed(first, ids[0]!);
    const preview = await queue(environment, { kind: "preview", snapshot: MODEL });
    const elsewhere = await queue(other);
    const third = new JobRunner(db);
    // Of two organizations, the one with fewer running jobs comes first.
    const there = await claimed(third, elsewhere);
    const parallel = await claimed(second, preview);
    const fourth = new JobRunner(db);
    expect(await fourth.claim(), "the dry run waits behind the recompute").toBeNull();
    await Promise.all([second.run(parallel), third.run(there), first.run(running)]);
    await Promise.all([third.end(), fourth.end()]);
    expect(
      await Promise.all([preview, elsewhere, ids[0]!].map(async (id) => (await jobOf(db.sql, id)).status)),
    ).toEqual(Array(3).fill("completed"));
  });

  it("an organization that runs several jobs leaves one of them where another organization's job waits", async () => {
    const environment = await populated(3);
    const shouldYield = () => call(db.sql, "should_yield_job", environment.environmentId);
    const running = await claimed(first, await queue(environment));
    const parallel = await claimed(second, await queue(environment, { kind: "preview", snapshot: MODEL }));
    expect(await shouldYield(), "while no other waits").toBe(false);
    const elsewhere = await queue(await populated(3));
    expect(await shouldYield()).toBe(true);
    await second.leave(parallel);
    expect(await shouldYield(), "while it runs one").toBe(false);
    const there = await claimed(second, elsewhere);
    const third = new JobRunner(db);
    const again = await claimed(third, parallel.recomputeId);
    expect(await shouldYield(), "while the other runs").toBe(false);
    await second.fail(there, "It failed.");
    await db.sql`update svc.recomputes set next_attempt_at = now() + interval '50 seconds' where recompute_id = ${elsewhere}`;
    expect(await shouldYield(), "while the other waits for its next attempt").toBe(false);
    await due(elsewhere);
    expect(await shouldYield()).toBe(true);
    await Promise.all([first.run(running), third.run(again)]);
    await third.end();
  });

  it("a worker whose jobs are those of one organization turns to that of another one before they are done", async () => {
    const many = await populated(4 * AMOUNT);
    const ids = [await queue(many), await queue(many, { kind: "preview", snapshot: MODEL })];
    const other = await populated(1);
    const worker = recomputer(db, { yieldMs: 5 });
    for (const id of ids) await untilJob(db.sql, id, ({ attempt }) => attempt > 0);
    const few = await queue(other);
    await untilJob(db.sql, few, isOver);
    for (const id of ids) {
      await untilJob(db.sql, id, (job) => {
        worker.wake();
        return isOver(job);
      });
    }
    await worker.stop();
    const jobs = await Promise.all(ids.map((id) => jobOf(db.sql, id)));
    for (const job of jobs) expect(job).toMatchObject({ status: "completed", failures: 0 });
    expect(Math.max(...jobs.map(({ attempt }) => attempt)), "one was left and taken again").toBeGreaterThan(1);
  });

  it("concurrent workers share the jobs, and run one at a time of each environment", async () => {
    const environments = await Promise.all([1, 2, 3].map(() => populated(12)));
    const ids: string[] = [];
    for (const environment of [...environments, ...environments]) ids.push(await queue(environment));
    const workers = [recomputer(db), recomputer(db), recomputer(db)];
    try {
      for (const id of ids) {
        workers.forEach((worker) => worker.wake());
        await untilJob(db.sql, id, isOver);
      }
    } finally {
      await Promise.all(workers.map((worker) => worker.stop()));
    }
    for (const id of ids)
      expect(await jobOf(db.sql, id)).toMatchObject({ status: "completed", customers_done: 12, attempt: 1 });
    const overlaps = await db.sql`
      select from svc.recomputes as a join svc.recomputes as b using (environment_id)
      where a.recompute_seq < b.recompute_seq and b.started_at < a.finished_at`;
    expect(overlaps).toHaveLength(0);
    for (const environment of environments) expect(await derived(environment)).toEqual(await derived(environments[0]!));
  });
});

describe("a job visits", () => {
  it("only the requested customer, and none if that does not exist", async () => {
    const environment = await populated(12);
    const before = await everything(environment);
    for (const kind of ["recompute", "dry_run"] as const) {
      const id = await queue(environment, { kind, customer: "nobody" });
      await first.runNext();
      expect(await jobOf(db.sql, id)).toMatchObject({ status: "completed", customers_total: 0, customers_done: 0 });
    }
    expect(await everything(environment)).toEqual(before);

    const one = customersOf(12)[4]!;
    const id = await queue(environment, { customer: one });
    await first.runNext();
    expect(await jobOf(db.sql, id)).toMatchObject({ status: "completed", customers_total: 1, customers_done: 1 });
    const without = (rows: string[]) => rows.filter((row) => !row.includes(one));
    expect(without((await everything(environment)).customers)).toEqual(without(before.customers));
    expect((await environment.document(one)).configVersion).toBe("v2");
  });

  it("no customers created after the pinned instant, even if requested alone", async () => {
    const environment = await TestEnvironment.create(db.sql, MODEL);
    const pin = "2026-02-01T00:00:00.000Z";
    const at = ["2026-01-31T23:59:59.999Z", pin, "2026-02-01T00:00:00.001Z"];
    const customers = ["before", "with", "after"];
    for (const [i, customer] of customers.entries())
      await environment.ingest([{ customer, at: at[i]!, event: "login" }]);
    await environment.take(
      { at: AT },
      customers.map((customer) => ({ customer, at: at[2]!, event: "login" })),
    );
    await environment.deploy(CHANGED);
    const only = await queue(environment, { at: pin, customer: "after" });
    await first.runNext();
    expect(await jobOf(db.sql, only)).toMatchObject({ status: "completed", customers_total: 0 });
    const all = await queue(environment, { at: pin });
    await first.runNext();
    expect(await jobOf(db.sql, all)).toMatchObject({ status: "completed", customers_total: 2, customers_done: 2 });
    const versions = await Promise.all(
      customers.map(async (customer) => (await environment.document(customer)).configVersion),
    );
    expect(versions).toEqual(["v2", "v2", "v1"]);
  });
});

it.each(["recompute", "dry_run"] as const)(
  "a worker that is gone can no longer write as a former attempt of a %s, and changes nothing",
  async (kind) => {
    const environment = await populated(15);
    const id = await queue(environment, { kind });
    const zombie = await claimed(first, id);
    await first.run(zombie, () => false);
    await first.disconnect();
    const taken = await claimed(second, id);
    const before = [await everything(environment), await jobOf(db.sql, id), await differencesOf(db.sql, id)];
    await expect(first.run(zombie)).rejects.toThrow("RECOMPUTE_TAKEN_OVER");
    expect(await first.fail(zombie, "It failed.", 1)).toBeNull();
    await first.leave(zombie);
    expect([await everything(environment), await jobOf(db.sql, id), await differencesOf(db.sql, id)]).toEqual(before);
    expect(await first.claim(), "the queue is still held by the other").toBeNull();
    await second.run(taken);
    await second.leave(taken);
    await expect(first.run(zombie)).rejects.toThrow("RECOMPUTE_TAKEN_OVER");
    expect(await jobOf(db.sql, id)).toMatchObject({ status: "completed", attempt: 2, customers_done: 15 });
  },
);

it("a cancelled job ends with the customers that are done, the next one begins, and a retry does the rest", async () => {
  const environment = await populated(AMOUNT);
  const id = await queue(environment);
  const behind = await queue(environment, { kind: "dry_run" });
  const cancelled = await claimed(first, id);
  await first.run(cancelled, () => false);
  // In two statements, as in svc_api.cancel_recompute: a node does not have the function.
  await db.sql.unsafe(`
    do $$
    declare
      _job svc.recomputes;
    begin
      select * into _job from svc.recomputes where recompute_id = '${id}';
      perform svc.end_failed_recompute(_job, 0, 'Cancelled by ada@example.com.');
    end
    $$`);
  const [before, job] = [await everything(environment), await jobOf(db.sql, id)];
  const done = job.customers_done;
  expect(done).toBeGreaterThan(0);
  expect(job).toMatchObject({
    status: "dead_letter",
    failures: 0,
    error: `Cancelled by ada@example.com. ${done} of ${AMOUNT} customers are done and stay as recomputed, the others are unchanged. To resume it: svc recompute retry ${id}`,
  });

  // Its worker has not noticed yet.
  expect((await second.claim())?.recomputeId).toBe(behind);
  await expect(first.run(cancelled)).rejects.toThrow("RECOMPUTE_TAKEN_OVER");
  await first.leave(cancelled);
  expect(await everything(environment)).toEqual(before);
  expect(await jobOf(db.sql, id)).toEqual(job);

  await second.end();
  await db.sql`update svc.recomputes set status = 'queued', error = null, finished_at = null where recompute_id = ${id}`;
  await first.runNext(id);
  expect(await jobOf(db.sql, id)).toMatchObject({ status: "completed", attempt: 2, customers_done: AMOUNT });
  expect(await derived(environment)).toEqual(undisturbed);
});

it("a database that was read-only for a while gets its recomputes without a restart", async () => {
  const other = await createDatabase();
  onTestFinished(() => other.drop());
  const id = await put(other.sql, await outdated(other.sql, 1), { at: AT });
  const setReadOnly = (value: string) =>
    other.sql.unsafe(`alter database ${other.name} set default_transaction_read_only = ${value}`);
  const lines: string[] = [];
  await setReadOnly("on");
  const running = recomputer(other, { logger: pino({}, { write: (line) => void lines.push(line) }) });
  await vi.waitUntil(() => lines.some((line) => line.includes("in a read-only transaction")));
  await setReadOnly("off");
  await untilJob(other.sql, id, isOver);
  await running.stop();
  expect(await jobOf(other.sql, id)).toMatchObject({ status: "completed", customers_done: 1 });
});

describe("interruptions", () => {
  it("a worker that must stop ends after its chunk and queues the job again, which does not count as a failure", async () => {
    const environment = await populated(AMOUNT);
    const id = await queue(environment);
    for (let stops = 0; stops < 3; stops++) {
      const worker = recomputer(db, { attemptsMax: 1 });
      await untilJob(db.sql, id, (job) => isOver(job) || job.attempt > stops);
      await worker.stop();
      const job = await jobOf(db.sql, id);
      if (isOver(job)) break;
      expect(job).toMatchObject({ status: "queued", failures: 0, error: null });
    }
    if (!isOver(await jobOf(db.sql, id))) await first.runNext();
    expect(await jobOf(db.sql, id)).toMatchObject({ status: "completed", customers_done: AMOUNT, failures: 0 });
    expect(await derived(environment)).toEqual(undisturbed);
  });

  it("a job whose workers repeatedly die before any progress is given up", async () => {
    const environment = await populated(3);
    const id = await queue(environment);
    for (let attempt = 1; attempt <= 3; attempt++) {
      const runner = new JobRunner(db);
      expect(await runner.claim(3)).toMatchObject({ attempt });
      await runner.kill();
    }
    expect(await first.claim(3)).toBeNull();
    const job = await jobOf(db.sql, id);
    expect(job).toMatchObject({ status: "dead_letter", attempt: 3, failures: 3, customers_done: 0 });
    expect(job.error).toContain("The worker ended 3 times without progress");
    expect(job.error).toContain("0 of 3 customers are done");
  });

  it("a job that cannot be given up does not delay jobs of other environments", async () => {
    const stuck = await queue(await populated(3));
    for (let attempt = 1; attempt <= 2; attempt++) {
      const runner = new JobRunner(db);
      await runner.claim(2);
      await runner.kill();
    }
    await changeTriggers(
      db.sql,
      `create function refuse() returns trigger language plpgsql as 'begin raise exception $m$refused$m$; end'`,
      `create trigger refuse before update on svc.recomputes for each row when (new.status = 'dead_letter') execute function refuse()`,
    );
    onTestFinished(() => changeTriggers(db.sql, "drop function refuse() cascade"));
    const waiting = [await queue(await populated(3)), await queue(await populated(3))];
    const taken = [await first.claim(2), await second.claim(2)];
    expect(taken.map((job) => job!.recomputeId).toSorted()).toEqual(waiting.toSorted());
    const third = new JobRunner(db);
    onTestFinished(() => third.end());
    expect(await third.claim(2), "there is no other job").toBeNull();
    expect(await jobOf(db.sql, stuck)).toMatchObject({ status: "retrying", error: "Giving it up failed: refused" });
  });

  it("a job whose workers die after some progress is never given up", async () => {
    const environment = await populated(AMOUNT);
    const id = await queue(environment);
    let attempts = 0;
    for (let now = await jobOf(db.sql, id); !isOver(now); now = await jobOf(db.sql, id)) {
      const runner = new JobRunner(db);
      const job = await runner.claim(2);
      // Immediately, and where the previous attempt ended.
      expect(job).toMatchObject({ attempt: ++attempts, lastCustomerId: now.last_customer_id });
      await runner.run(job!, () => false);
      expect(await first.claim(), "while its worker is there").toBeNull();
      await runner.kill();
    }
    expect(attempts).toBeGreaterThan(3);
    expect(await jobOf(db.sql, id)).toMatchObject({ status: "completed", customers_done: AMOUNT });
    expect(await derived(environment)).toEqual(undisturbed);
  });
});
