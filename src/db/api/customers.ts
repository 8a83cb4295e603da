import type { Sql, TransactionSql } from "postgres";
import type { CustomerState, HistoryRequest, Json } from "../../engine/index.js";
import type { AdminCredentials, Page, EnvironmentRef } from "./access.js";
import { scalar, type Rows } from "./scalar.js";

/** Erases everything that is held about a customer: `{erased: {events, …}}`, rows of each kind. */
export function eraseCustomer(sql: Sql, by: AdminCredentials, at: EnvironmentRef, customerId: string): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.erase_customer(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${customerId}
    )::text as answer`);
}

/** Puts an export on record; raises CUSTOMER_NOT_FOUND where nothing is held about the customer. */
export async function recordExport(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  customerId: string,
): Promise<void> {
  await sql`
    select svc_api.export_customer(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${customerId}
    )`;
}

/** The lists of an export, in the order of the document. Each is a cursor that `openExport` opens. */
export const EXPORT_LISTS = [
  "identifies",
  "events",
  "transitions",
  "blockedTransitions",
  "memberships",
  "journeyRuns",
  "healthScores",
  "ruleExecutions",
  "signals",
  "emissions",
  "deliveries",
  "recomputes",
  "retiredKeys",
] as const;

export type ExportList = (typeof EXPORT_LISTS)[number];

/** Opens an export on the transaction's snapshot: JSON text of the members that are no lists. */
export function openExport(
  tx: TransactionSql,
  by: AdminCredentials,
  at: EnvironmentRef,
  customerId: string,
): Promise<string> {
  return scalar(tx<Rows>`
    select svc_api.open_export(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}
    )::text as answer`);
}

/** The next items of a list as JSON texts, at most so many; none at its end. */
export async function fetchExport(tx: TransactionSql, list: ExportList, items: number): Promise<string[]> {
  const rows = await tx.unsafe<{ item: string }[]>(`fetch ${items} from "export_${list}"`);
  return rows.map(({ item }) => item);
}

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
interface ExplanationOf {
  by: AdminCredentials;
  at: EnvironmentRef;
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

export interface RuleExecutionFilters {
  customer?: string | undefined;
  rule?: string | undefined;
  result?: "pass" | "fail" | "skip" | "error" | undefined;
  /** Those that ran then or later. */
  since?: Date | undefined;
  /** With conditions and action. */
  detail: boolean;
}

/** The log of the rules, newest first. */
export function listRuleExecutions(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  filters: RuleExecutionFilters,
  page: Page,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.list_rule_executions(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment},
      ${filters.customer ?? null}, ${filters.rule ?? null}, ${filters.result ?? null}, ${filters.since ?? null}, ${filters.detail},
      ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

/** A customer's progress in one journey. */
export function getJourney(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  customerId: string,
  journeyId: string,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.get_journey(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}, ${journeyId}
    )::text as answer`);
}

export function getCustomer(sql: Sql, by: AdminCredentials, at: EnvironmentRef, customerId: string): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.get_customer(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}
    )::text as answer`);
}

/** What waits for a customer's evaluation: `{pending, ahead, setAside: {at, error} | null}`. */
export function customerBacklog(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  customerId: string,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.customer_backlog(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}
    )::text as answer`);
}

/** Gives a customer that was set aside, or all of them (null), back to evaluation: `{released}`. */
export function releaseCustomers(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  customerId: string | null,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.release_customers(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${customerId}
    )::text as answer`);
}

export interface CustomerFilters {
  lifecycle?: string | undefined;
  segment?: string | undefined;
  /** Without an event for at least this long. */
  inactiveSeconds?: number | undefined;
  /** Those that were set aside. */
  setAside?: boolean | undefined;
}

export function listCustomers(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  filters: CustomerFilters,
  page: Page,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.list_customers(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment},
      ${filters.lifecycle ?? null}, ${filters.segment ?? null}, ${filters.inactiveSeconds ?? null},
      ${filters.setAside ?? null},      ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

export function customerTimeline(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  customerId: string,
  page: Page,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.customer_timeline(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

export function getSegment(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  segment: string,
  page: Page,
): Promise<string> {
  return scalar(sql<Rows>`
    select svc_api.get_segment(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${segment}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}
