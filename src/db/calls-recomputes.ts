import type { Sql } from "postgres";
import type { AdminCredentials, Page, Place } from "./calls-admin.js";
import { one, type Rows } from "./one.js";

/** The calls about recomputes, dry runs and previews. Each raises the errors that its SQL function names. */

/** What to recompute: a scope of its own, or that of a dry run with its pins. */
export type RecomputeOf = { customerId: string | null } | { from: string };

/** Queues a recompute and answers it. */
export function createRecompute(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  of: RecomputeOf,
  dryRun: boolean,
): Promise<string> {
  const [customerId, from] = "from" in of ? [null, of.from] : [of.customerId, null];
  return one(sql<Rows>`
    select svc_api.create_recompute(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${customerId}, ${dryRun}, ${from}
    )::text as answer`);
}

/** @param status only those; all unless given. */
export function listRecomputes(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  status: string | undefined,
  page: Page,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.list_recomputes(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${status ?? null}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

export function getRecompute(sql: Sql, by: AdminCredentials, at: Place, recomputeId: string): Promise<string> {
  return one(sql<Rows>`
    select svc_api.get_recompute(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${recomputeId}
    )::text as answer`);
}

/** How the customers of a recompute are listed: the most telling first, or by their ids. */
export type CustomerOrder = "weight" | "customerId";

export function listRecomputeCustomers(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  recomputeId: string,
  order: CustomerOrder,
  page: Page,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.list_recompute_customers(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${recomputeId}, ${order === "customerId"},
      ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

/** Puts one that was given up back into the queue and answers it. */
export function retryRecompute(sql: Sql, by: AdminCredentials, at: Place, recomputeId: string): Promise<string> {
  return one(sql<Rows>`
    select svc_api.retry_recompute(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${recomputeId}
    )::text as answer`);
}

export interface NewPreview {
  /** Canonical JSON of a valid snapshot. */
  snapshot: string;
  /** Of exactly that text. */
  hash: string;
  /** About how many customers to look at; null for all. */
  sample: number | null;
}

/** Queues a preview and answers it. */
export function createPreview(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  { snapshot, hash, sample }: NewPreview,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.create_preview(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${snapshot}, ${hash}, ${sample}
    )::text as answer`);
}

export function getPreview(sql: Sql, by: AdminCredentials, at: Place, previewId: string): Promise<string> {
  return one(sql<Rows>`
    select svc_api.get_preview(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${previewId}
    )::text as answer`);
}

export function listPreviewCustomers(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  previewId: string,
  order: CustomerOrder,
  page: Page,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.list_preview_customers(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${previewId}, ${order === "customerId"},
      ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}
