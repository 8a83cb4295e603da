import type { Sql, TransactionSql } from "postgres";
import { expect, it } from "vitest";
import { useDatabase } from "../../support/database.js";
import { violations } from "../../support/invariants.js";
import { waitingForLock } from "../../support/locks.js";
import { TestEnvironment, type TestOperation } from "../../tasks/support/environment.js";
import { CHANGED, customersOf, historiesOf, MODEL } from "../../tasks/support/population.js";
import { isOver, JobRunner, queue, recomputer, untilJob } from "../../tasks/support/recompute.js";
import { startTestWorker } from "../../tasks/support/worker.js";
import { createWebhook } from "../../webhooks/support/fixtures.js";

// Erasures that coincide with writes of the same customer.

const db = await useDatabase();

it("leaves no delivery of emissions that a recompute is just passing on", async () => {
  const environment = await TestEnvironment.create(db.sql, MODEL);
  const { environmentId } = environment;
  await environment.ingest(historiesOf(customersOf(40)));
  await environment.evaluate();
  const { webhookId } = await createWebhook(db.sql, environmentId, "https://hooks.example.com/");
  await environment.deploy(CHANGED);
  const runner = new JobRunner(db);
  const id = await queue(db.sql, environment);
  let run: Promise<unknown> = Promise.resolve();
  let erased: Promise<unknown> = Promise.resolve();
  await db.sql.begin(async (tx) => {
    // The recompute stops at this customer; its emissions so far are not passed on.
    await tx`select from svc.customers where environment_id = ${environmentId} and customer_id = 'c024' for update`;
    run = runner.runNext(id);
    await untilJob(db.sql, id, (job) => job.customers_done === 24);
    const deliveries = (sql: Sql | TransactionSql) => sql`
      select from svc.deliveries join svc.emissions using (environment_id, emission_seq)
      where webhook_id = ${webhookId} and customer_id = 'c023'`;
    await tx`select svc.flush_recompute_outbox(${environmentId}, ${id})`;
    expect(await deliveries(tx)).not.toHaveLength(0);
    expect(await deliveries(db.sql)).toHaveLength(0);
    erased = environment.erase("c023");
    await expect.poll(() => waitingForLock(db.sql, "%erase_customer%")).toBe(1);
  });
  await Promise.all([run, erased]);
  await runner.end();
  expect(await violations(db.sql)).toEqual([]);
});

it("removes all data of customers erased during recomputes and while their operations waited, except later operations", async () => {
  const environment = await TestEnvironment.create(db.sql, MODEL);
  const { sql, environmentId } = environment;
  const known = customersOf(40, "erased_");
  // These were never evaluated: only their operations are stored.
  const waiting = customersOf(10, "erased_unknown_");
  // A recompute visits some of these before the others, and some after them.
  const remaining = [...customersOf(10, "early_"), ...customersOf(10, "late_")];
  await environment.ingest(historiesOf(known));
  await environment.ingest(historiesOf(remaining));
  await environment.evaluate();
  await createWebhook(sql, environmentId, "https://hooks.example.com/");
  await environment.deploy(CHANGED);
  const jobs = recomputer(db);
  await startTestWorker(db, { concurrency: 2 });

  const load = { isRunning: true };
  const recomputing = (async () => {
    while (load.isRunning) {
      const id = await queue(sql, environment);
      jobs.wake();
      expect(await untilJob(sql, id, isOver)).toMatchObject({ status: "completed" });
    }
  })();
  const sending = (async () => {
    while (load.isRunning) await environment.send(remaining.map((customer) => paid(customer, 0)));
  })();

  const erasures = { pending: 0, whileRecomputing: 0 };
  const eraseAll = async (customers: readonly string[]) => {
    for (const customer of customers) {
      await environment.send([
        { ...paid(customer, 0), key: `key of ${customer}` },
        { customer, at: new Date().toISOString(), traits: { plan: "pro" } },
        paid(customer, 3_600_000),
      ]);
      const running = await sql`
        select from svc.recomputes where environment_id = ${environmentId} and status = 'running'`;
      const { pending } = await environment.erase(customer);
      erasures.pending += pending!;
      erasures.whileRecomputing += running.length;
    }
  };
  const returning = known.filter((_, i) => i % 10 === 0);
  // In an order different from that of their names, the same each time.
  const shuffled = [...known, ...waiting].map((_, i, all) => all[(i * 17) % all.length]!);
  await Promise.all(
    [0, 1, 2].map(async (eraser) => {
      const own = shuffled.filter((_, i) => i % 3 === eraser);
      await eraseAll(own);
      const back = own.filter((customer) => returning.includes(customer));
      if (back.length > 0)
        await environment.send(back.map((customer) => ({ ...paid(customer, 0), event: "returned" })));
    }),
  ).finally(() => {
    load.isRunning = false;
  });
  await Promise.all([recomputing, sending]);
  // A recompute that begins after everything else.
  const last = await queue(sql, environment);
  jobs.wake();
  expect(await untilJob(sql, last, isOver)).toMatchObject({ status: "completed" });
  await expect
    .poll(() => sql`select from svc.inbox where environment_id = ${environmentId}`, { timeout: 60_000 })
    .toHaveLength(0);
  await jobs.stop();

  // The event in the future waits in any case.
  expect(erasures.pending).toBeGreaterThanOrEqual(50);
  expect(erasures.whileRecomputing).toBeGreaterThan(0);

  const there = await sql<{ customer: string; events: string[]; born: boolean }[]>`
    select c.customer_id as customer, array_agg(e.event) as events, bool_and(c.created_at = e.accepted_at) as born
    from svc.customers as c left join svc.events as e using (environment_id, customer_id)
    where c.environment_id = ${environmentId} and c.customer_id <> all(${remaining})
    group by 1 order by 1`;
  expect([...there]).toEqual(returning.map((customer) => ({ customer, events: ["returned"], born: true })));
  const gone = [...known, ...waiting].filter((customer) => !returning.includes(customer));
  expect(await placesOf(gone)).toEqual([]);
  expect(await violations(sql)).toEqual([]);
}, 120_000);

it("leaves no name of a customer that was tried when a worker ended, and sets no other aside in its place", async () => {
  const environment = await TestEnvironment.create(db.sql, MODEL);
  const { sql, environmentId } = environment;
  await environment.send([paid("tried_one", 0), paid("tried_two", 0)]);
  const trial = () => sql<[{ trial: { suspended: string | null } }]>`
    select svc_api.begin_trial(${environmentId}, 'gone', 1, 1) as trial`;
  await sql`select svc_api.suspect_environment(${environmentId}, 'the worker ended')`;
  // Trials of one operation of one customer, until the next one would set this customer aside.
  for (let failures = 0; failures < 3; failures++) {
    expect((await trial())[0].trial.suspended).toBeNull();
    await sql`select svc_api.record_trial(${environmentId}, 'gone', '{tried_one}', null)`;
  }
  await environment.erase("tried_one");
  expect(await placesOf(["tried_one"])).toEqual([]);
  expect((await trial())[0].trial.suspended).toBeNull();
});

/** An event that occurs `ahead` milliseconds from now. */
function paid(customer: string, ahead: number): TestOperation {
  const now = Date.now();
  return { customer, at: new Date(now).toISOString(), occurred: new Date(now + ahead).toISOString(), event: "paid" };
}

/** The tables and views that name one of these customers. */
async function placesOf(customers: readonly string[]): Promise<string[]> {
  const relations = await db.sql<{ name: string }[]>`
    select format('%I.%I', n.nspname, c.relname) as name
    from pg_class as c join pg_namespace as n on n.oid = c.relnamespace
    where c.relkind in ('r', 'v') and n.nspname in ('iam', 'svc', 'svc_inspect', 'graphile_worker')
    order by 1`;
  const names: string[] = [];
  for (const { name } of relations) {
    const pattern = `\\m(${customers.join("|")})\\M`;
    const rows = await db.sql.unsafe(`select from ${name} as t where t::text ~ $1 limit 1`, [pattern]);
    if (rows.length > 0) names.push(name);
  }
  return names;
}
