import type { Sql, TransactionSql } from "postgres";
import { afterAll, expect, it } from "vitest";
import { createDatabase } from "../../support/database.js";
import { violations } from "../../support/invariants.js";
import { waitingForLock } from "../../support/locks.js";
import { TestEnvironment } from "../../tasks/support/environment.js";
import { CHANGED, customersOf, historiesOf, MODEL } from "../../tasks/support/population.js";
import { JobRunner, queue, untilJob } from "../../tasks/support/recompute.js";
import { createWebhook } from "../../webhooks/support/fixtures.js";

// An erasure that meets what is written of the same customer at that moment.

const db = await createDatabase();
afterAll(() => db.drop());

it("leaves no delivery of what a recompute is just telling of", async () => {
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
    // The recompute comes as far as this customer; what it has written is not told of.
    await tx`select from svc.customers where customer_id = 'c024' for update`;
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
