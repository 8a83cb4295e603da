import type { Sql } from "postgres";

/** What svc_api.claim_deliveries hands out: all that one attempt needs. */
export interface ClaimedDelivery {
  environmentId: number;
  webhookId: string;
  /** A bigint, as text. */
  emissionSeq: string;
  /** The number of the attempt to make, from 1. */
  attempt: number;
  /** The emission's public id, the same at every attempt. */
  eventId: string;
  url: string;
  sealedSecret: Uint8Array;
  /** JSON, to be sent byte for byte. */
  body: string;
}

/** What svc_api.record_attempts writes down. Texts must not contain U+0000, which jsonb does not hold. */
export interface AttemptResult {
  environmentId: number;
  webhookId: string;
  emissionSeq: string;
  attempt: number;
  /** ISO 8601. */
  attemptedAt: string;
  latencyMs: number;
  /** Null where there was no answer. */
  statusCode: number | null;
  /** Why there was no answer. */
  error: string | null;
  /** The answer's first KiB. */
  response: string | null;
  retryAfterSeconds: number | null;
}

interface ClaimedRow {
  environment_id: number;
  webhook_id: string;
  emission_seq: string;
  attempt: number;
  event_id: string;
  url: string;
  sealed_secret: Uint8Array;
  body: string;
}

export async function claimDeliveries(
  sql: Sql,
  workerId: string,
  perEndpoint: number,
  total: number,
): Promise<ClaimedDelivery[]> {
  const rows = await sql<ClaimedRow[]>`
    select * from svc_api.claim_deliveries(${workerId}::text, ${perEndpoint}::integer, ${total}::integer)
  `;
  return rows.map((row) => ({
    environmentId: row.environment_id,
    webhookId: row.webhook_id,
    emissionSeq: row.emission_seq,
    attempt: row.attempt,
    eventId: row.event_id,
    url: row.url,
    sealedSecret: row.sealed_secret,
    body: row.body,
  }));
}

/** Answers how many were written down; those on record already are not counted. */
export async function recordAttempts(sql: Sql, results: readonly AttemptResult[]): Promise<number> {
  const [row] = await sql<{ recorded: number }[]>`
    select svc_api.record_attempts(${JSON.stringify(results)}::text::jsonb) as recorded
  `;
  return row?.recorded ?? 0;
}
