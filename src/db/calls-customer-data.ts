import type { Sql, TransactionSql } from "postgres";
import type { AdminCredentials, Place } from "./calls-admin.js";
import { one, type Rows } from "./one.js";

/** Erases everything that is held about a customer: `{erased: {events, …}}`, rows of each kind. */
export function eraseCustomer(sql: Sql, by: AdminCredentials, at: Place, customerId: string): Promise<string> {
  return one(sql<Rows>`
    select svc_api.erase_customer(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${customerId}
    )::text as answer`);
}

/** Puts an export on record; raises CUSTOMER_NOT_FOUND where nothing is held about the customer. */
export async function recordExport(sql: Sql, by: AdminCredentials, at: Place, customerId: string): Promise<void> {
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
export function openExport(tx: TransactionSql, by: AdminCredentials, at: Place, customerId: string): Promise<string> {
  return one(tx<Rows>`
    select svc_api.open_export(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}
    )::text as answer`);
}

/** The next items of a list as JSON texts, at most so many; none at its end. */
export async function fetchExport(tx: TransactionSql, list: ExportList, items: number): Promise<string[]> {
  const rows = await tx.unsafe<{ item: string }[]>(`fetch ${items} from "export_${list}"`);
  return rows.map(({ item }) => item);
}
