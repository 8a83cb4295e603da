import type { Sql } from "postgres";
import type { AdminCredentials, Page, EnvironmentRef } from "./access.js";
import { scalar, type Rows } from "./scalar.js";

/** The calls of webhooks, deliveries and emissions, as those of access.ts. */

export interface NewWebhook {
  url: string;
  eventTypes: string[];
  /** For example 7d; null without a limit. */
  maxEventAge: string | null;
  maxConcurrency: number;
  /** Null without a limit. */
  maxPerSecond: number | null;
  sealedSecret: Buffer;
}

/** Answers the webhook. */
export function createWebhook(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  webhook: NewWebhook,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.create_webhook(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment},
      ${webhook.url}, ${webhook.eventTypes}, ${webhook.maxEventAge}, ${webhook.maxConcurrency}, ${webhook.maxPerSecond},
      ${webhook.sealedSecret}
    )::text as answer`);
}

export function listWebhooks(sql: Sql, by: AdminCredentials, at: EnvironmentRef, page: Page): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.list_webhooks(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

export function getWebhook(sql: Sql, by: AdminCredentials, at: EnvironmentRef, webhookId: string): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.get_webhook(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${webhookId}
    )::text as answer`);
}

/** What of a webhook changes; what is not there stays. */
export interface WebhookChanges extends Partial<Omit<NewWebhook, "sealedSecret">> {
  disabled?: boolean;
}

/** Answers the webhook. */
export function updateWebhook(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  webhookId: string,
  changes: WebhookChanges,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.update_webhook(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${webhookId},
      ${JSON.stringify(changes)}::text::jsonb
    )::text as answer`);
}

/** Answers the webhook as it was. */
export function deleteWebhook(sql: Sql, by: AdminCredentials, at: EnvironmentRef, webhookId: string): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.delete_webhook(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${webhookId}
    )::text as answer`);
}

/** Answers the webhook; the secret before this one signs too for so many seconds. */
export function rotateWebhookSecret(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  webhookId: string,
  graceSeconds: number,
  sealedSecret: Buffer,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.rotate_webhook_secret(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${webhookId}, ${graceSeconds},
      ${sealedSecret}
    )::text as answer`);
}

/** Where a test goes, and by what it is signed. */
export interface WebhookTarget {
  url: string;
  sealedSecret: Uint8Array;
  /** Signs too, while a rotation is not over. */
  previousSealedSecret: Uint8Array | null;
  /** The database's time. */
  at: Date;
}

/** Puts a test on record and answers what it needs. */
export async function testWebhook(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  webhookId: string,
  message: { id: string; type: string },
): Promise<WebhookTarget> {
  const [row] = await sql<
    [{ url: string; sealed_secret: Uint8Array; previous_sealed_secret: Uint8Array | null; at: Date }]
  >`
    select url, sealed_secret, previous_sealed_secret, clock_timestamp() as at from svc_api.test_webhook(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${webhookId},
      ${message.id}, ${message.type}
    )`;
  return {
    url: row.url,
    sealedSecret: row.sealed_secret,
    previousSealedSecret: row.previous_sealed_secret,
    at: row.at,
  };
}

export interface DeliveryFilters {
  status?: string | undefined;
  type?: string | undefined;
  customer?: string | undefined;
}

export function listDeliveries(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  webhookId: string,
  filters: DeliveryFilters,
  page: Page,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.list_deliveries(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${webhookId},
      ${filters.status ?? null}, ${filters.type ?? null}, ${filters.customer ?? null}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

export function getDelivery(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  webhookId: string,
  deliveryId: string,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.get_delivery(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${webhookId}, ${deliveryId}
    )::text as answer`);
}

/** Answers the delivery. */
export function resendDelivery(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  webhookId: string,
  deliveryId: string,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.resend_delivery(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${webhookId}, ${deliveryId}
    )::text as answer`);
}

export interface Resending {
  since: Date;
  /** Not included; null for no end. */
  until: Date | null;
  statuses: readonly ("failed" | "missing" | "pending" | "delivered")[];
  cursor?: string | undefined;
}

/** Answers `{queued, nextCursor}`. */
export function resendDeliveries(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  webhookId: string,
  { since, until, statuses, cursor }: Resending,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.resend_deliveries(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${webhookId},
      ${since}, ${until}, ${statuses}, ${cursor ?? null}
    )::text as answer`);
}

export function getEmission(sql: Sql, by: AdminCredentials, at: EnvironmentRef, emissionId: string): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.get_emission(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${emissionId}
    )::text as answer`);
}

/** What svc_api.claim_deliveries hands out: all that one attempt needs. */
export interface ClaimedDelivery {
  environmentId: number;
  webhookId: string;
  /** A bigint, as text. */
  emissionSeq: string;
  /** The number of the attempt to make, from 1. */
  attempt: number;
  /** The emission's public id, the same at every attempt. */
  eventId: string;
  url: string;
  sealedSecret: Uint8Array;
  /** Signs too, while a rotation is not over. */
  previousSealedSecret: Uint8Array | null;
  /** Deliveries under way at the webhook at most. */
  maxConcurrency: number;
  /** Deliveries begun per second at the webhook at most; null without a limit. */
  maxPerSecond: number | null;
  /** All attempts at the webhook have failed since the last success. */
  failing: boolean;
  /** JSON, to be sent byte for byte. */
  body: string;
  /** What the database's clock is ahead of this process's monotonic one, in milliseconds; takes in the call's way back. */
  databaseAheadMs: number;
}

/** A delivery that a worker holds. */
export type HeldDelivery = Pick<ClaimedDelivery, "webhookId" | "emissionSeq">;

/** What svc_api.record_attempts writes down. Texts must not contain U+0000, which jsonb does not hold. */
export interface AttemptResult {
  environmentId: number;
  webhookId: string;
  emissionSeq: string;
  attempt: number;
  /** ISO 8601. */
  attemptedAt: string;
  latencyMs: number;
  /** Null where there was no answer. */
  statusCode: number | null;
  /** Why there was no answer. */
  error: string | null;
  /** The answer's first KiB. */
  response: string | null;
  retryAfterSeconds: number | null;
}

interface ClaimedRow {
  environment_id: number;
  webhook_id: string;
  emission_seq: string;
  attempt: number;
  event_id: string;
  url: string;
  sealed_secret: Uint8Array;
  previous_sealed_secret: Uint8Array | null;
  max_concurrency: number;
  max_per_second: number | null;
  failing: boolean;
  body: string;
  database_ms: number;
}

/** How much more of a webhook a worker has room for. */
export interface QueueRoom {
  webhookId: string;
  room: number;
}

/** What a worker holds, and what it has room for. */
interface ClaimRequest {
  held: readonly HeldDelivery[];
  /** Of the webhooks that the worker knows. */
  rooms: readonly QueueRoom[];
  /** How much of others it may hold. */
  firstLimit: number;
  total: number;
  /** Of webhooks that are failing, in all. */
  failingTotal: number;
}

/** Deliveries that are due, beside those that the worker holds, at webhooks that no other worker delivers to. */
export async function claimDeliveries(sql: Sql, workerId: string, request: ClaimRequest): Promise<ClaimedDelivery[]> {
  const { held, rooms, firstLimit, total, failingTotal } = request;
  const rows = await sql<ClaimedRow[]>`
    select d.*, extract(epoch from clock_timestamp())::double precision * 1000 as database_ms from svc_api.claim_deliveries(
      ${workerId}::text,
      ${held.map(({ webhookId }) => webhookId)}::text[], ${held.map(({ emissionSeq }) => emissionSeq)}::bigint[],
      ${rooms.map(({ webhookId }) => webhookId)}::text[], ${rooms.map(({ room }) => room)}::integer[],
      ${firstLimit}::integer, ${total}::integer, ${failingTotal}::integer
    ) as d
  `;
  const now = performance.now();
  return rows.map((row) => ({
    environmentId: row.environment_id,
    webhookId: row.webhook_id,
    emissionSeq: row.emission_seq,
    attempt: row.attempt,
    eventId: row.event_id,
    url: row.url,
    sealedSecret: row.sealed_secret,
    previousSealedSecret: row.previous_sealed_secret,
    maxConcurrency: row.max_concurrency,
    maxPerSecond: row.max_per_second,
    failing: row.failing,
    body: row.body,
    databaseAheadMs: row.database_ms - now,
  }));
}

/** Lets other workers deliver at once to what this one delivered to. */
export async function releaseWebhooks(sql: Sql, workerId: string): Promise<void> {
  await sql`select svc_api.release_webhooks(${workerId}::text)`;
}

/** Removes attempts older than so many days and what deleted webhooks leave behind, up to `limit` rows of a kind; answers how many. */
export async function sweepWebhooks(sql: Sql, attemptDays: number, limit: number): Promise<number> {
  const [row] = await sql<{ rows: number }[]>`
    select svc_api.sweep_webhooks(${attemptDays}::integer, ${limit}::integer) as rows
  `;
  return row?.rows ?? 0;
}

/** What was written down. */
interface Recorded {
  /** How many attempts; those on record already are not counted. */
  recorded: number;
  /** The webhooks that were disabled by it. */
  disabled: { webhookId: string; reason: string }[];
}

export async function recordAttempts(sql: Sql, results: readonly AttemptResult[]): Promise<Recorded> {
  const [row] = await sql<[{ document: Recorded }]>`
    select svc_api.record_attempts(${JSON.stringify(results)}::text::jsonb) as document
  `;
  return row.document;
}
