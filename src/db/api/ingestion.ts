import type { Sql } from "postgres";
import { eventIdOf } from "../../engine/ids.js";
import type { TrackingModel } from "../../model/tracking.js";

/** Capacity of a key's rate bucket, and what remains of it. */
export interface Allowance {
  limit: number;
  remaining: number;
}

/** A refusal as the database describes it; `sqlstate` chooses the HTTP status. */
export interface IngestFailure extends Partial<Allowance> {
  sqlstate: string;
  code: string;
  message?: string;
  field?: string;
  value?: unknown;
  reason?: string;
  fix?: string;
  diagnostics?: { code: string; message: string; path: string }[];
  retryAfter?: number;
}

/** What is known of a valid key before its request is read. */
export interface ValidKey extends Allowance {
  organizationId: string;
}

/** Why an accepted operation is in quarantine: its first violation, with a path relative to the operation. */
export interface QuarantinedOutcome {
  code: string;
  message: string;
  path: string;
}

interface IngestAnswer extends Allowance {
  accepted: number;
  /** By position; missing if none is. */
  quarantined?: Record<string, QuarantinedOutcome>;
  /** Schema violations, by position, under a version that is not strict: the operations were accepted nevertheless. */
  warnings: Record<string, IngestFailure>;
}

export interface BatchAnswer extends IngestAnswer {
  /** Calls of the tracking API that were not stored, by position; none for other batches. */
  failures: Record<string, IngestFailure>;
  /** Ids of the track operations, in order. */
  eventIds: string[];
  /** How many of the track operations repeat earlier ones. */
  repeated: number;
}

/** The outcome of a single event; the warning is a violation of a schema that is not strict. */
export interface SingleOutcome extends Allowance {
  outcome: { eventId: string; duplicate: boolean; quarantined?: QuarantinedOutcome } | IngestFailure;
  warning: IngestFailure | undefined;
}

/** As svc.ingest_outcome returns it. */
interface RawAnswer extends IngestAnswer {
  firstSeq: number;
  seqs: number[];
  failures: Record<string, IngestFailure>;
}

/** The range of sequence numbers reserved for one call. */
const CALL_NUMBERS = 1024;

/** Arguments of both calls: the key's SHA-256, an id created before the first try, and whether an earlier try may have been accepted. */
export interface IngestCall {
  keyHash: Buffer;
  batchId: string;
  repeated: boolean;
}

/** Accepts a batch body (`{"events": […]}`, raw text), all or nothing. Raises the errors that svc_api.ingest documents. */
export async function ingestBatch(sql: Sql, call: IngestCall, body: string): Promise<BatchAnswer> {
  const { firstSeq, seqs, quarantined = {}, ...answer } = await ingest(sql, call, body, false);
  // New operations have numbers of this call; an operation that repeats another of the same call has the same number.
  const stored = new Set(seqs.filter((seq) => seq >= firstSeq && seq < firstSeq + CALL_NUMBERS));
  return { ...answer, quarantined, eventIds: seqs.map(eventIdOf), repeated: seqs.length - stored.size };
}

/** Accepts events of separate requests (raw texts), each with its own outcome. */
export async function ingestSingles(sql: Sql, call: IngestCall, bodies: string[]): Promise<SingleOutcome[]> {
  const answer = await ingest(sql, call, `[${bodies.join(",")}]`, true);
  const { limit, remaining, warnings, firstSeq, seqs, failures, quarantined = {} } = answer;
  return seqs.map((seq, position) => {
    const violation = quarantined[position];
    const stored = {
      eventId: eventIdOf(seq),
      duplicate: seq !== firstSeq + position,
      ...(violation && { quarantined: violation }),
    };
    return { limit, remaining, outcome: failures[position] ?? stored, warning: warnings[position] };
  });
}

async function ingest(sql: Sql, call: IngestCall, body: string, single: boolean): Promise<RawAnswer> {
  const [row] = await sql<[{ answer: RawAnswer }]>`
    select svc_api.ingest(${call.keyHash}, ${call.batchId}, ${body}, ${single}, ${call.repeated}) as answer`;
  return row.answer;
}

/** Calls in quarantine, and the tracking model by which the active version maps them; null if there are no calls. */
export interface QuarantinedCalls {
  model: (TrackingModel & { version: number | null }) | null;
  /** `at`: when the call was accepted, in milliseconds. */
  calls: { id: string; at: number; call: unknown }[];
}

/** The tracking model of a key's environment, only its version if the caller knows that one; and the database's time (ms). */
export type KnownTrackingModel = Partial<TrackingModel> & { version: number | null; now: number };

/** Operations that were accepted after a position. */
export interface StreamPage {
  /** Public id and item (JSON text without line breaks) of each, in order of acceptance. */
  events: [id: string, item: string][];
  /** The position to continue from; a number that may exceed a double. */
  position: string;
  /** Whether there is more already. */
  more: boolean;
}

/** What a part of the sweep of an environment's operations did. */
export interface SweptOperations {
  removed: number;
  /** The batch to continue after; null at the end. */
  through: number | null;
}
