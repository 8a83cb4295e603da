import type { Sql } from "postgres";
import { scalar, type Rows } from "./scalar.js";

/**
 * The calls of the administrative API. Each is one round trip that checks the credential too, and answers with JSON text: the order of
 * its members is fixed, and numbers in it may exceed a double. Each raises the errors that its SQL function names.
 */
export interface AdminCredentials {
  /** SHA-256 of the access token. */
  tokenHash: Buffer;
  organizationId: string;
  /** For the audit log. */
  requestId: string;
}

/** An environment by its names. */
export interface EnvironmentRef {
  /** Slug of the project. */
  project: string;
  environment: "test" | "live";
}

/** Which part of a list; without a cursor, its beginning. */
export interface Page {
  limit: number;
  cursor?: string | undefined;
}

/** Raises unless the token may do an operation of `iam.operations()`; the operation itself checks again. */
export async function authorizeRequest(
  sql: Sql,
  by: AdminCredentials,
  operation: string,
  environment: string | null,
): Promise<void> {
  await sql`select svc_api.authorize_request(${by.tokenHash}, ${by.organizationId}, ${operation}, ${environment})`;
}

export function whoami(sql: Sql, by: AdminCredentials): Promise<string> {
  return scalar(sql<Rows>`select svc_api.whoami(${by.tokenHash}, ${by.organizationId})::text as answer`);
}

/** What the audit log keeps of a question to a language model. */
interface RecordedQuestion {
  task: string;
  model: string;
  /** Of the JSON text that is sent. */
  factBytes: number;
}

/** Records that a language model is asked. Raises unless the token may ask for the project, and the plan includes it. */
export async function recordQuestion(
  sql: Sql,
  by: AdminCredentials,
  at: EnvironmentRef,
  { task, model, factBytes }: RecordedQuestion,
): Promise<void> {
  await sql`
    select svc_api.record_question(
      ${by.tokenHash}, ${by.organizationId}, ${by.requestId}, ${at.project}, ${at.environment}, ${task}, ${model}, ${factBytes}
    )`;
}
