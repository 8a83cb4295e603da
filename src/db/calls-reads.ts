import type { Sql } from "postgres";
import type { AdminCredentials, Page, Place } from "./calls-admin.js";
import { one, oneInBytes, type Rows } from "./one.js";

/** The calls of lists and details, as those of calls-admin.ts. */

export interface EventFilters {
  customer?: string | undefined;
  event?: string | undefined;
  status?: "processed" | "pending" | undefined;
  /** Those that occurred then or later. */
  since?: Date | undefined;
}

/** Events, newest occurrence first: up to 13 MB of JSON. */
export function listEvents(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  filters: EventFilters,
  page: Page,
): Promise<Buffer> {
  return oneInBytes(sql<Rows>`
    select svc_api.list_events(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment},
      ${filters.customer ?? null}, ${filters.event ?? null}, ${filters.status ?? null}, ${filters.since ?? null},
      ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}

/** What was accepted after a position. */
export interface StreamPage {
  /** Public id and item (JSON text) of each, in order of acceptance. */
  events: [id: string, item: string][];
  /** Where to go on; a number that may exceed a double. */
  position: string;
  /** Whether there is more already. */
  more: boolean;
}

/** The next events in order of acceptance; without a position, none and where the present ends. */
export async function streamEvents(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  filters: Pick<EventFilters, "customer" | "event">,
  position: string | null,
  limit: number,
): Promise<StreamPage> {
  const document = await one(sql<Rows>`
    select svc_api.stream_events(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment},
      ${filters.customer ?? null}, ${filters.event ?? null}, ${position}::text::bigint, ${limit}
    )::text as answer`);
  return JSON.parse(document) as StreamPage;
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
