import { randomBytes } from "node:crypto";
import { claimDeliveries, type ClaimedDelivery, type HeldDelivery } from "../../../src/db/api/webhooks.js";
import type { Sql, TransactionSql } from "postgres";
import { afterEach, expect } from "vitest";
import { newSecret, sealingKey, sealSecret } from "../../../src/webhooks/secret.js";
import { useDatabase } from "../../support/database.js";

/** SVC_SECRET of these tests. */
export const SERVICE_SECRET = "a secret of the tests";

/** Creates a project with an environment `test`; returns the environment's id. */
export async function createEnvironment(sql: Sql): Promise<number> {
  const slug = `o${randomBytes(6).toString("hex")}`;
  const [row] = await sql<{ environment_id: number }[]>`
    with organization as (
      insert into iam.organizations (organization_id, slug) values (${`org_${slug}`}, ${slug}) returning organization_id
    ),
    project as (
      insert into svc.projects (organization_id, slug, name)
      select organization_id, 'app', 'App' from organization
      returning project_id
    )
    insert into svc.environments (project_id, name)
    select project_id, 'test' from project
    returning environment_id`;
  return row!.environment_id;
}

/** Creates another project of the environment's organization; returns the id of its environment `test`. */
export async function addEnvironment(sql: Sql, environmentId: number): Promise<number> {
  const [row] = await sql<{ environment_id: number }[]>`
    with project as (
      insert into svc.projects (organization_id, slug, name)
      select p.organization_id, ${`p${randomBytes(6).toString("hex")}`}, 'App'
      from svc.environments as e join svc.projects as p using (project_id)
      where e.environment_id = ${environmentId}
      returning project_id
    )
    insert into svc.environments (project_id, name)
    select project_id, 'test' from project
    returning environment_id`;
  return row!.environment_id;
}

export interface TestWebhook {
  webhookId: string;
  secret: string;
}

export interface WebhookSettings {
  maxConcurrency?: number;
  maxPerSecond?: number;
  maxEventAge?: string;
  include?: string[];
  format?: "json" | "slack" | "teams";
  /** How long ago it was created: the invariants ignore what is emitted within ten minutes after that. */
  ageDays?: number;
}

/** Creates a webhook in a new environment. */
export async function newEndpoint(sql: Sql): Promise<TestWebhook & { environment: number }> {
  const environment = await createEnvironment(sql);
  return { environment, ...(await createWebhook(sql, environment, "https://example.com/hooks")) };
}

export async function createWebhook(
  sql: Sql,
  environmentId: number,
  url: string,
  eventTypes: string[] = ["*"],
  { maxConcurrency = 10, maxPerSecond, maxEventAge, include = [], format = "json", ageDays = 0 }: WebhookSettings = {},
): Promise<TestWebhook> {
  const secret = newSecret();
  const createdAt = sql`now() - ${ageDays} * interval '1 day'`;
  const [row] = await sql<{ webhook_id: string }[]>`
    insert into svc.webhooks (
      environment_id, webhook_id, url, event_types, max_concurrency, max_per_second, max_event_age, include, format,
      sealed_secret, created_at, active_since
    )
    values (
      ${environmentId}, svc.random_id('whk_'), ${url}, ${eventTypes}, ${maxConcurrency}, ${maxPerSecond ?? null},
      ${maxEventAge ?? null}, ${include}, ${format}, ${sealSecret(secret, sealingKey(SERVICE_SECRET))},
      ${createdAt}, ${createdAt}
    )
    returning webhook_id`;
  return { webhookId: row!.webhook_id, secret };
}

export interface TestEmission {
  type?: string;
  /** Default: lifecycle. */
  source?: string;
  customerId?: string;
  /** JSON text. */
  metadata?: string;
  causeId?: string | null;
  configVersion?: number | null;
  /** Its age when written, as an interval; by default it is of 2026-03-02. */
  age?: string;
}

/** Writes these emissions, or this many, like one evaluation, with the batch row last; returns their sequence numbers. */
export async function emit(sql: Sql, environmentId: number, emissions: TestEmission[] | number): Promise<string[]> {
  const all = typeof emissions === "number" ? Array<TestEmission>(emissions).fill({}) : emissions;
  return sql.begin((tx) => emitWithin(tx, environmentId, all));
}

/** Like `emit`, within a transaction. */
export async function emitWithin(
  tx: TransactionSql,
  environmentId: number,
  emissions: TestEmission[],
): Promise<string[]> {
  const [next] = await tx<{ seq: string }[]>`select nextval(svc.evaluation_seq(${environmentId})) as seq`;
  const rows = emissions.map((emission, position) => ({
    seq: String(BigInt(next!.seq) * 65536n + BigInt(position)),
    type: emission.type ?? "customer.activated",
    source: emission.source ?? "lifecycle",
    customer: emission.customerId ?? "customer_1",
    metadata: emission.metadata ?? "{}",
    cause: emission.causeId ?? null,
    version: emission.configVersion ?? null,
    age: emission.age ?? null,
  }));
  await tx`
      insert into svc.emissions (
        environment_id, emission_seq, customer_id, event_type, source, metadata, emitted_at, cause_type, cause_id, config_version
      )
      select
        h.environment_id, r.seq, r.customer, r.type, r.source, r.metadata::jsonb,
        coalesce(now() - r.age, '2026-03-02T10:00:00.123456Z'),
        case when r.cause is null then 'timer' else 'event' end, r.cause, r.version
      from svc.homes as h
      cross join json_to_recordset(${JSON.stringify(rows)}::text::json) as r (
        seq bigint, type text, source text, customer text, metadata text, cause text, version integer, age interval
      )
      where h.environment_id = ${environmentId}`;
  await tx`
      insert into svc.emission_batches (environment_id, evaluation_seq, emissions)
      values (${environmentId}, ${next!.seq}, ${emissions.length})`;
  await tx`select svc.fan_out(${environmentId}, array[${next!.seq}::bigint])`;
  return rows.map(({ seq }) => seq);
}

export interface DeliveryRow {
  webhook_id: string;
  emission_seq: string;
  status: "pending" | "delivered" | "failed";
  attempts: number;
  /** Seconds from now, negative if past. */
  due_in: number;
}

export async function deliveriesOf(sql: Sql, webhookId: string): Promise<DeliveryRow[]> {
  return sql<DeliveryRow[]>`
    select
      webhook_id, emission_seq, status, attempts,
      extract(epoch from next_attempt_at - now())::float8 as due_in
    from svc.deliveries
    where webhook_id = ${webhookId}
    order by emission_seq`;
}

export interface AttemptRow {
  attempt: number;
  status_code: number | null;
  error: string | null;
  response: string | null;
}

export async function attemptsOf(sql: Sql, webhookId: string): Promise<AttemptRow[]> {
  return sql<AttemptRow[]>`
    select attempt, status_code, error, response
    from svc.delivery_attempts
    where webhook_id = ${webhookId}
    order by emission_seq, attempt`;
}

/** A worker's claim of up to `total` in all, at most `each` per webhook, while it holds `held`. */
export function claim(
  sql: Sql,
  workerId: string,
  total: number,
  {
    held = [],
    each = 100,
    failingTotal = 100,
  }: { held?: readonly HeldDelivery[]; each?: number; failingTotal?: number } = {},
): Promise<ClaimedDelivery[]> {
  return claimDeliveries(sql, workerId, { held, rooms: [], firstLimit: each, total, failingTotal });
}

/** Makes all pending deliveries due now. */
export async function makeDue(sql: Sql): Promise<void> {
  await sql`update svc.deliveries set next_attempt_at = now() where status = 'pending'`;
}

/** Resolves once nothing is due and all attempts are recorded. */
export async function nothingDue(sql: Sql): Promise<void> {
  const due = () => sql`
    select from svc.deliveries as d
    join svc.webhooks as w using (environment_id, webhook_id)
    where d.status = 'pending' and d.next_attempt_at <= now() and w.disabled_at is null and w.deleted_at is null
    limit 1`;
  await expect.poll(due, { interval: 10, timeout: 60_000 }).toHaveLength(0);
}

/** Gives a webhook another secret, and returns it; the previous one also signs for 24 hours. */
export async function rotateSecret(sql: Sql, webhookId: string): Promise<string> {
  const secret = newSecret();
  await sql`
    update svc.webhooks
    set
      previous_sealed_secret = sealed_secret,
      previous_secret_expires_at = now() + interval '24 hours',
      sealed_secret = ${sealSecret(secret, sealingKey(SERVICE_SECRET))}
    where webhook_id = ${webhookId}`;
  return secret;
}

/** Expires all leases, as if their workers had died. */
export async function expireLeases(sql: Sql): Promise<void> {
  await sql`update svc.webhooks set leased_until = now() - interval '1 second' where leased_by is not null`;
}

/** A database for the file's tests, whose webhooks are deleted after each test. */
export async function useWebhooks(): Promise<Sql> {
  const { sql } = await useDatabase();
  afterEach(() => clearWebhooks(sql));
  return sql;
}

export async function clearWebhooks(sql: Sql): Promise<void> {
  await sql`delete from svc.webhooks`;
}
