import { call } from "../../../src/db/api/call.js";
import { sweepRetention } from "../../../src/tasks/periodic-jobs.js";
import type { TestDatabase } from "../../support/database.js";
import { claim } from "../../webhooks/support/fixtures.js";
import type { TestEnvironment } from "./environment.js";
import { CHANGED, customersOf, historiesOf } from "./population.js";
import { JobRunner, queue } from "./recompute.js";

/**
 * Fills an environment of MODEL as years of use do: customers with histories, an event that retention removed with its batch, deliveries to
 * its webhooks, and a recompute of all under CHANGED.
 */
export async function liveThrough(db: TestDatabase, environment: TestEnvironment, customers: number): Promise<void> {
  const { sql } = db;
  const { environmentId: id } = environment;
  await environment.ingest([{ customer: "c000", at: "2026-01-01T00:00:00Z", event: "login", key: "old" }]);
  await environment.ingest(historiesOf(customersOf(customers)));
  await environment.evaluate();
  await sql`update iam.plans set retention_days = 30`;
  await sql`
    update svc.ingest_batches set accepted_at = now()
    where environment_id = ${id} and batch_seq <> (select min(batch_seq) from svc.ingest_batches where environment_id = ${id})`;
  await sql`
    update svc.events set accepted_at = now()
    where environment_id = ${id}
      and event_seq >> 10 <> (select min(batch_seq) from svc.ingest_batches where environment_id = ${id})`;
  await sql`update svc.trait_updates set accepted_at = now() where environment_id = ${id}`;
  await sweepRetention(sql, new AbortController().signal);
  const [accepted] = await sql<[{ events: string }]>`
    select sum(tracked)::text as events from svc.ingest_batches where environment_id = ${id}`;
  await sql`
    update svc.key_usage as u set month_events = ${accepted.events}
    from svc.api_keys as k where k.key_hash = u.key_hash and k.environment_id = ${id}`;
  const due = await claim(sql, "worker", 5);
  const outcome = { latencyMs: 3, statusCode: 204, error: null, response: null, retryAfterSeconds: null };
  const attemptedAt = new Date().toISOString();
  await call(
    sql,
    "record_attempts",
    due.map((delivery) => ({ ...delivery, attemptedAt, ...outcome })),
  );
  await call(sql, "release_webhooks", "worker");
  await environment.deploy(CHANGED);
  const worker = new JobRunner(db);
  await queue(sql, environment);
  await worker.runNext();
  await worker.end();
}
