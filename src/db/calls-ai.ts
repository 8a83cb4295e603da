import type { Sql } from "postgres";
import type { AdminCredentials, Place } from "./calls-admin.js";

/** What the audit log keeps of a question to a language model. */
export interface RecordedQuestion {
  task: string;
  model: string;
  /** Of the JSON text that is sent. */
  factBytes: number;
}

/** Records that a language model is asked. Raises unless the token may ask for the project, and the plan includes it. */
export async function recordQuestion(
  sql: Sql,
  by: AdminCredentials,
  at: Place,
  { task, model, factBytes }: RecordedQuestion,
): Promise<void> {
  await sql`
    select svc_api.record_question(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${task}, ${model}, ${factBytes}
    )`;
}
