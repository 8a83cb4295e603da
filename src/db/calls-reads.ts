import type { Sql } from "postgres";
import type { AdminCredentials, Page, Place } from "./calls-admin.js";
import { one, oneInBytes, type Rows } from "./one.js";

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
  at: Place,
  filters: RuleExecutionFilters,
  page: Page,
): Promise<string> {
  return one(sql<Rows>`
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
  at: Place,
  customerId: string,
  journeyId: string,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.get_journey(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}, ${journeyId}
    )::text as answer`);
}

export function getCustomer(sql: Sql, by: AdminCredentials, at: Place, customerId: string): Promise<string> {
  return one(sql<Rows>`
    select svc_api.get_customer(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}
    )::text as answer`);
}

/** What waits for a customer's evaluation: `{pending, ahead, setAside: {at, error} | null}`. */
export function customerBacklog(sql: Sql, by: AdminCredentials, at: Place, customerId: string): Promise<string> {
  return one(sql<Rows>`
    select svc_api.customer_backlog(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}
    )::text as answer`);
}

/** Gives a customer that was set aside, or all of them (null), back to evaluation: `{released}`. */
export function releaseCustomers(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  customerId: string | null,
): Promise<string> {
  return one(sql<Rows>`
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
  at: Place,
  filters: CustomerFilters,
  page: Page,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.list_customers(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment},
      ${filters.lifecycle ?? null}, ${filters.segment ?? null}, ${filters.inactiveSeconds ?? null},
      ${filters.setAside ?? null},      ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

export function customerTimeline(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  customerId: string,
  page: Page,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.customer_timeline(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${customerId}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

export function getSegment(sql: Sql, by: AdminCredentials, at: Place, segment: string, page: Page): Promise<string> {
  return one(sql<Rows>`
    select svc_api.get_segment(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${segment}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}
