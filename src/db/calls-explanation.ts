import type { TransactionSql } from "postgres";
import type { CustomerState, HistoryRequest, Json } from "../engine/index.js";
import type { AdminCredentials, Place } from "./calls-admin.js";

/** What is explained: the health alone, or all of the model. Each is an operation of its own. */
export type ExplainedPart = "health" | "customer";

/** A customer's state as it is stored, and what is known about it. Instants are ISO 8601; `createdAt` is in milliseconds. */
export interface StoredForExplanation {
  customerId: string;
  createdAt: number;
  traits: Record<string, Json>;
  /** Null where the customer was never evaluated with success. */
  state: Omit<CustomerState, "traits"> | null;
  /** The version that the state was computed under, and its hash; null before the first deploy. */
  version: number | null;
  hash: string | null;
  /** Through which the state is evaluated. */
  asOf: string | null;
  configVersion: string | null;
  activeVersion: string | null;
  score: Json;
  setAside: { at: string; error: string } | null;
  /** Operations that wait, up to 10,000. */
  pending: number;
}

/** Which customer is explained to whom. */
export interface ExplanationOf {
  by: AdminCredentials;
  at: Place;
  customerId: string;
  part: ExplainedPart;
}

/** Everything but history and model that an explanation takes. All calls of one belong into one transaction with one snapshot. */
export async function beginExplanation(
  tx: TransactionSql,
  { by, at, customerId, part }: ExplanationOf,
): Promise<StoredForExplanation> {
  const [row] = await tx<[{ stored: StoredForExplanation }]>`
    select svc_api.begin_explanation(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}, ${part}
    ) as stored`;
  return row.stored;
}

/** The snapshot of a version, as deployed. */
export async function explanationSnapshot(
  tx: TransactionSql,
  { by, at, part }: ExplanationOf,
  version: number,
): Promise<unknown> {
  const [row] = await tx<[{ snapshot: unknown }]>`
    select svc_api.explanation_snapshot(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${version}, ${part}
    ) as snapshot`;
  return row.snapshot;
}

/**
 * Answers to requests of the engine, by position: the events as JSON in UTF-8, which their reader parses.
 *
 * @param pageSize how many events an answer holds, if there are more; a few more where they are of one millisecond
 */
export async function explanationHistory(
  tx: TransactionSql,
  { by, at, customerId, part }: ExplanationOf,
  requests: readonly HistoryRequest[],
  pageSize: number,
): Promise<{ events: Uint8Array; complete: boolean }[]> {
  const rows = await tx`
    select p.events::text, p.complete::text
    from svc_api.explanation_history(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}, ${part},
      ${JSON.stringify(requests)}::text::json, ${pageSize}
    ) as p
    order by p.request`.raw();
  return rows.map(([events, complete]) => ({ events: events!, complete: complete!.toString() === "true" }));
}
