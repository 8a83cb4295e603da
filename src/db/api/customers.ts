import type { AdminCredentials, EnvironmentRef } from "./access.js";
import type { TransactionSql } from "postgres";
import type { HistoryRequest, Json } from "../../engine/index.js";
import type { StoredCustomer } from "./evaluation.js";

/** What to explain: the health alone, or all of the model. Each has its own permission. */
export type ExplainedPart = "health" | "customer";

/** A customer's stored state and facts about it. Instants are ISO 8601, except `createdAt`. */
export interface StoredForExplanation extends StoredCustomer {
  /** The version under which the state was computed, and its hash; null before the first deploy. */
  version: number | null;
  hash: string | null;
  /** The instant through which the state is evaluated. */
  asOf: string | null;
  configVersion: string | null;
  activeVersion: string | null;
  score: Json;
  setAside: { at: string; error: string } | null;
  /** Number of waiting operations, counted up to 10,000. */
  pending: number;
}

/** A customer as live evaluation left it, and the version to replay it under. Instants are ISO 8601, except `createdAt`. */
export interface StoredForTimeTravel extends StoredCustomer {
  /** The traits with all digits of their numbers. */
  traitsText: string;
  /** The version to replay under, and its hash; null if none is active. */
  version: number | null;
  hash: string | null;
  configVersion: string | null;
  activeVersion: string | null;
  /** From this instant on all events of the customer are present, if retention may have removed earlier ones. */
  exactFrom: string | null;
}

/** Which customer is explained, and for which caller. */
interface ExplanationOf {
  by: AdminCredentials;
  at: EnvironmentRef;
  customerId: string;
  part: ExplainedPart;
}

/**
 * The answer to a history request of the engine: the events as JSON in UTF-8, which the caller parses.
 *
 * @param pageSize maximum of events; a few more if they have the same millisecond
 */
export async function explanationHistory(
  tx: TransactionSql,
  { by, at, customerId, part }: ExplanationOf,
  request: HistoryRequest,
  pageSize: number,
): Promise<{ events: Uint8Array; complete: boolean }> {
  const [row] = await tx`
    select p.events::text, p.complete::text
    from svc_api.explanation_history(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}, ${part},
      ${JSON.stringify([request])}::text::json, ${pageSize}
    ) as p`.raw();
  const [events, complete] = row!;
  return { events: events!, complete: complete!.toString() === "true" };
}
