import type { AdminCredentials, EnvironmentRef } from "./access.js";
import type { Sql } from "postgres";

export interface NewWebhook {
  url: string;
  eventTypes: string[];
  /** For example 7d; null without a limit. */
  maxEventAge: string | null;
  maxConcurrency: number;
  /** Null without a limit. */
  maxPerSecond: number | null;
  /** What of the customer deliveries tell besides. */
  include: string[];
  /** How a delivery is written. */
  format: "json" | "slack" | "teams";
  sealedSecret: Buffer;
}

/** What of a webhook changes; what is not there stays. */
export interface WebhookChanges extends Partial<Omit<NewWebhook, "sealedSecret">> {
  disabled?: boolean;
}

/** Where messages go, and by what they are signed. */
export interface WebhookTarget {
  url: string;
  sealedSecret: Uint8Array;
  /** Signs too, while a rotation is not over. */
  previousSealedSecret: Uint8Array | null;
}

/** Puts a test on record and answers what it needs; `at` is the database's time, `body` a message for a chat, null where JSON is sent. */
export async function testWebhook(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  webhookId: string,
  message: { id: string; type: string },
): Promise<WebhookTarget & { at: Date; body: string | null }> {
  // A number, because a session may write instants in a style that the driver cannot read.
  const [row] = await sql<[WebhookTarget & { at: number; body: string | null }]>`
    select url, sealed_secret as "sealedSecret", previous_sealed_secret as "previousSealedSecret", body,
      (extract(epoch from clock_timestamp()) * 1000)::float8 as at
    from svc_api.try_webhook(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${webhookId},
      ${message.id}, ${message.type}
    )`;
  return { ...row, at: new Date(row.at) };
}

export interface Resending {
  since: Date;
  /** Not included; null for no end. */
  until: Date | null;
  statuses: readonly ("failed" | "missing" | "pending" | "delivered")[];
  cursor?: string | undefined;
}

/** What svc_api.claim_deliveries hands out: all that one attempt needs. */
export interface ClaimedDelivery extends WebhookTarget {
  environmentId: number;
  webhookId: string;
  /** A bigint, as text. */
  emissionSeq: string;
  /** The number of the attempt to make, from 1. */
  attempt: number;
  /** The emission's public id, the same at every attempt. */
  eventId: string;
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
export interface AttemptResult extends Pick<
  ClaimedDelivery,
  "environmentId" | "webhookId" | "emissionSeq" | "attempt"
> {
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
  const rows = await sql<(Omit<ClaimedDelivery, "databaseAheadMs"> & { databaseMs: number })[]>`
    select
      d.environment_id as "environmentId", d.webhook_id as "webhookId", d.emission_seq as "emissionSeq", d.attempt, d.event_id as "eventId",
      d.url, d.sealed_secret as "sealedSecret", d.previous_sealed_secret as "previousSealedSecret", d.max_concurrency as "maxConcurrency",
      d.max_per_second as "maxPerSecond", d.failing, d.body, extract(epoch from clock_timestamp())::double precision * 1000 as "databaseMs"
    from svc_api.claim_deliveries(
      ${workerId}::text,
      ${held.map(({ webhookId }) => webhookId)}::text[], ${held.map(({ emissionSeq }) => emissionSeq)}::bigint[],
      ${rooms.map(({ webhookId }) => webhookId)}::text[], ${rooms.map(({ room }) => room)}::integer[],
      ${firstLimit}::integer, ${total}::integer, ${failingTotal}::integer
    ) as d
  `;
  const now = performance.now();
  return rows.map(({ databaseMs, ...row }) => ({ ...row, databaseAheadMs: databaseMs - now }));
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
