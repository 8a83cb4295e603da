import { type Page } from "./calls-admin.js";
import type { Sql } from "postgres";
import type { AdminCredentials, Place } from "./calls-admin.js";
import { one, type Rows } from "./one.js";

/** The common problems of an environment, most severe first: `{data: [{code, severity, message, fix, count, details}]}`. */
export function getDiagnostics(sql: Sql, by: AdminCredentials, at: Place): Promise<string> {
  return one(sql<Rows>`
    select svc_api.get_diagnostics(${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment})::text as answer`);
}

/** How accepted operations violated a schema that was not strict, newest version first; of one version where it is named. */
export function listSchemaViolations(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  version: number | null,
  page: Page,
): Promise<string> {
  return one(sql<Rows>`
    select svc_api.list_schema_violations(
      ${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment}, ${version}, ${page.limit}, ${page.cursor ?? null}
    )::text as answer`);
}
