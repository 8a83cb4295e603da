import type { Sql } from "postgres";

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
export interface LaneRoom {
  webhookId: string;
  room: number;
}

/** What a worker holds, and what it has room for. */
export interface ClaimRequest {
  held: readonly HeldDelivery[];
  /** Of the webhooks that the worker knows. */
  rooms: readonly LaneRoom[];
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
export interface Recorded {
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
