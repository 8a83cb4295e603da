import type { Sql } from "postgres";
import type { AdminCredentials, Page, Place } from "./calls-admin.js";
import { one, type Rows } from "./one.js";

/** The calls of webhooks, deliveries and emissions, as those of calls-admin.ts. */

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
export function createWebhook(sql: Sql, by: AdminCredentials, at: Place, webhook: NewWebhook): Promise<string> {
  return one(sql<Rows>`
    select svc_api.create_webhook(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment},
      ${webhook.url}, ${webhook.eventTypes}, ${webhook.maxEventAge}, ${webhook.maxConcurrency}, ${webhook.maxPerSecond},
      ${webhook.sealedSecret}
    )::text as answer`);
}

export function listWebhooks(sql: Sql, by: AdminCredentials, at: Place, page: Page): Promise<string> {
  return one(sql<Rows>`
    select svc_api.list_webhooks(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

export function getWebhook(sql: Sql, by: AdminCredentials, at: Place, webhookId: string): Promise<string> {
  return one(sql<Rows>`
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
  at: Place,
  webhookId: string,
  changes: WebhookChanges,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.update_webhook(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${webhookId},
      ${JSON.stringify(changes)}::text::jsonb
    )::text as answer`);
}

/** Answers the webhook as it was. */
export function deleteWebhook(sql: Sql, by: AdminCredentials, at: Place, webhookId: string): Promise<string> {
  return one(sql<Rows>`
    select svc_api.delete_webhook(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${webhookId}
    )::text as answer`);
}

/** Answers the webhook; the secret before this one signs too for so many seconds. */
export function rotateWebhookSecret(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  webhookId: string,
  graceSeconds: number,
  sealedSecret: Buffer,
): Promise<string> {
  return one(sql<Rows>`
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
  at: Place,
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
  at: Place,
  webhookId: string,
  filters: DeliveryFilters,
  page: Page,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.list_deliveries(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${webhookId},
      ${filters.status ?? null}, ${filters.type ?? null}, ${filters.customer ?? null}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

export function getDelivery(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  webhookId: string,
  deliveryId: string,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.get_delivery(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${webhookId}, ${deliveryId}
    )::text as answer`);
}

/** Answers the delivery. */
export function resendDelivery(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  webhookId: string,
  deliveryId: string,
): Promise<string> {
  return one(sql<Rows>`
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
  at: Place,
  webhookId: string,
  { since, until, statuses, cursor }: Resending,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.resend_deliveries(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${webhookId},
      ${since}, ${until}, ${statuses}, ${cursor ?? null}
    )::text as answer`);
}

export function getEmission(sql: Sql, by: AdminCredentials, at: Place, emissionId: string): Promise<string> {
  return one(sql<Rows>`
    select svc_api.get_emission(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${emissionId}
    )::text as answer`);
}
