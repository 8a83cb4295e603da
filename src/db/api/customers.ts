import type { AdminCredentials, EnvironmentRef } from "./access.js";
import type { TransactionSql } from "postgres";
import type { HistoryRequest, Json } from "../../engine/index.js";
import type { StoredCustomer } from "./evaluation.js";

/** What is explained: the health alone, or all of the model. Each is an operation of its own. */
export type ExplainedPart = "health" | "customer";

/** A customer's state as it is stored, and what is known about it. Instants are ISO 8601 but for `createdAt`. */
export interface StoredForExplanation extends StoredCustomer {
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

/** A customer as live evaluation left it, and under which version it is to be replayed. Instants are ISO 8601 but for `createdAt`. */
export interface StoredForTimeTravel extends StoredCustomer {
  /** The traits with all digits of their numbers. */
  traitsText: string;
  /** Of the version that is meant; null where none is active. */
  version: number | null;
  hash: string | null;
  configVersion: string | null;
  activeVersion: string | null;
  /** From when on all events of the customer are there, where retention may have removed some before. */
  exactFrom: string | null;
}

/** Which customer is explained to whom. */
interface ExplanationOf {
  by: AdminCredentials;
  at: EnvironmentRef;
  customerId: string;
  part: ExplainedPart;
}

/**
 * The answer to a request of the engine: the events as JSON in UTF-8, which their reader parses.
 *
 * @param pageSize how many events it holds, if there are more; a few more where they are of one millisecond
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
