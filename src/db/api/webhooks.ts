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
  /** Parts of the customer that deliveries also contain. */
  include: string[];
  /** The format of a delivery's body. */
  format: "json" | "slack" | "teams";
  sealedSecret: Buffer;
}

/** Changes of a webhook; missing members stay as they are. */
export interface WebhookChanges extends Partial<Omit<NewWebhook, "sealedSecret">> {
  disabled?: boolean;
}

/** Where messages are sent, and the secrets that sign them. */
export interface WebhookTarget {
  url: string;
  sealedSecret: Uint8Array;
  /** Also signs during a rotation. */
  previousSealedSecret: Uint8Array | null;
}

/** Records a test delivery and returns what it needs; `at` is the database's time, `body` a message for a chat, null if JSON is sent. */
export async function testWebhook(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  webhookId: string,
  message: { id: string; type: string },
): Promise<WebhookTarget & { at: Date; body: string | null }> {
  // Read as a number, because a session may write instants in a style that the driver cannot parse.
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
  /** Exclusive; null for no end. */
  until: Date | null;
  statuses: readonly ("failed" | "missing" | "pending" | "delivered")[];
  cursor?: string | undefined;
}

/** A delivery from svc_api.claim_deliveries, with all that one attempt needs. */
export interface ClaimedDelivery extends WebhookTarget {
  environmentId: number;
  webhookId: string;
  /** A bigint, as text. */
  emissionSeq: string;
  /** The number of the attempt to make, from 1. */
  attempt: number;
  /** The emission's public id, the same at every attempt. */
  eventId: string;
  /** Limit of concurrent deliveries to the webhook. */
  maxConcurrency: number;
  /** Limit of deliveries to the webhook begun per second; null without a limit. */
  maxPerSecond: number | null;
  /** The webhook's latest attempts have failed. */
  failing: boolean;
  /** JSON, to be sent byte for byte. */
  body: string;
  /** The database's clock minus this process's monotonic clock, in milliseconds; low by the time that the answer was under way. */
  databaseAheadMs: number;
}

/** A delivery that a worker holds. */
export type HeldDelivery = Pick<ClaimedDelivery, "webhookId" | "emissionSeq">;

/** An attempt to be recorded by svc_api.record_attempts. Strings must not contain U+0000, which jsonb cannot hold. */
export interface AttemptResult extends Pick<
  ClaimedDelivery,
  "environmentId" | "webhookId" | "emissionSeq" | "attempt"
> {
  /** ISO 8601. */
  attemptedAt: string;
  latencyMs: number;
  /** Null if there was no answer. */
  statusCode: number | null;
  /** Why there was no answer. */
  error: string | null;
  /** The answer's first KiB. */
  response: string | null;
  retryAfterSeconds: number | null;
}

/** How many more deliveries to a webhook a worker has room for. */
export interface QueueRoom {
  webhookId: string;
  room: number;
}

/** The deliveries that a worker holds, and those that it has room for. */
interface ClaimRequest {
  held: readonly HeldDelivery[];
  /** Room per webhook that the worker knows. */
  rooms: readonly QueueRoom[];
  /** Room for each other webhook. */
  firstLimit: number;
  total: number;
  /** Limit for all failing webhooks together. */
  failingTotal: number;
}

/** Claims due deliveries that the worker does not hold yet, to webhooks that no other worker delivers to. */
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

/** The result of recording attempts. */
export interface RecordedAttempts {
  /** How many attempts were recorded now; those recorded earlier are not counted. */
  recorded: number;
  /** The webhooks that were disabled as a result. */
  disabled: { webhookId: string; reason: string }[];
}
