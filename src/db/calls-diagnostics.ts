import type { Sql } from "postgres";
import type { AdminCredentials, Place } from "./calls-admin.js";
import { one, type Rows } from "./one.js";

/** The common problems of an environment, most severe first: `{data: [{code, severity, message, fix, count, details}]}`. */
export function getDiagnostics(sql: Sql, by: AdminCredentials, at: Place): Promise<string> {
  return one(sql<Rows>`
    select svc_api.get_diagnostics(${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment})::text as answer`);
}
