import type { Sql } from "postgres";
import { one, type AdminCredentials, type Place, type Rows } from "./calls-admin.js";

/** The common problems of an environment, most severe first: `{data: [{code, severity, message, fix, count, details}]}`. */
export function getDiagnostics(sql: Sql, by: AdminCredentials, at: Place): Promise<string> {
  return one(sql<Rows>`
    select svc_api.get_diagnostics(${by.tokenHash}, ${by.organizationId}, ${at.project}, ${at.environment})::text as document`);
}
