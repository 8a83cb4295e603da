import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import type { Sql } from "postgres";
import { eventIdOf } from "../../engine/ids.js";
import type { TrackingModel } from "../../model/tracking.js";
import { isTransient } from "../sqlstate.js";

/** Capacity of a key's rate bucket, and what is left of it. */
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

/** What is known of a good key before its request is read. */
export interface GoodKey extends Allowance {
  organizationId: string;
}

/** Why an accepted operation is in quarantine: its first violation, whose path begins at the operation. */
export interface QuarantinedOutcome {
  code: string;
  message: string;
  path: string;
}

interface IngestAnswer extends Allowance {
  accepted: number;
  /** By position; absent where none is. */
  quarantined?: Record<string, QuarantinedOutcome>;
  /** Schema violations of a version that is not strict, by position: accepted all the same. */
  warnings: Record<string, IngestFailure>;
}

export interface BatchAnswer extends IngestAnswer {
  /** Of calls of the tracking API: those that were not stored, by position. Any other batch has none. */
  failures: Record<string, IngestFailure>;
  /** Of the track operations, in order. */
  eventIds: string[];
  /** How many of the track operations repeat earlier ones. */
  repeated: number;
}

/** What became of a single event; a warning is of a schema that is not strict. */
export interface SingleOutcome extends Allowance {
  outcome: { eventId: string; duplicate: boolean; quarantined?: QuarantinedOutcome } | IngestFailure;
  warning: IngestFailure | undefined;
}

/** As svc.ingest_outcome gives it. */
interface RawAnswer extends IngestAnswer {
  firstSeq: number;
  seqs: number[];
  failures: Record<string, IngestFailure>;
}

/** A call's operations are numbered within so many. */
const CALL_NUMBERS = 1024;

/** What both calls need: the key's SHA-256, an id made before the first try, and whether an earlier try may have been accepted. */
export interface IngestCall {
  keyHash: Buffer;
  batchId: string;
  repeated: boolean;
}

/** Accepts a batch body (`{"events": […]}`, raw text), all or nothing. Raises the errors that svc_api.ingest names. */
export async function ingestBatch(sql: Sql, call: IngestCall, body: string): Promise<BatchAnswer> {
  const {
    limit,
    remaining,
    accepted,
    warnings,
    firstSeq,
    seqs,
    failures,
    quarantined = {},
  } = await ingest(sql, call, body, false);
  // What is stored now is numbered within this call; an operation that repeats another of the call has its number.
  const stored = new Set(seqs.filter((seq) => seq >= firstSeq && seq < firstSeq + CALL_NUMBERS));
  return {
    limit,
    remaining,
    accepted,
    warnings,
    failures,
    quarantined,
    eventIds: seqs.map(eventIdOf),
    repeated: seqs.length - stored.size,
  };
}

/** Accepts single events that came in one by one (raw texts), each with its own outcome. */
export async function ingestSingles(sql: Sql, call: IngestCall, bodies: string[]): Promise<SingleOutcome[]> {
  const answer = await ingest(sql, call, `[${bodies.join(",")}]`, true);
  const { limit, remaining, warnings, firstSeq, seqs, failures, quarantined = {} } = answer;
  return seqs.map((seq, position) => {
    const held = quarantined[position];
    const stored = {
      eventId: eventIdOf(seq),
      duplicate: seq !== firstSeq + position,
      ...(held && { quarantined: held }),
    };
    return { limit, remaining, outcome: failures[position] ?? stored, warning: warnings[position] };
  });
}

async function ingest(sql: Sql, call: IngestCall, body: string, single: boolean): Promise<RawAnswer> {
  const [row] = await sql<[{ answer: RawAnswer }]>`
    select svc_api.ingest(${call.keyHash}, ${call.batchId}, ${body}, ${single}, ${call.repeated}) as answer`;
  return row.answer;
}

/** Calls in quarantine, and how the active version maps them: null where there are none. */
export interface QuarantinedCalls {
  model: TrackingModel | null;
  /** `at` is when it was accepted, in milliseconds. */
  calls: { id: string; at: number; call: unknown }[];
}

/** The tracking model of a key's environment; its version alone where that is `known`. Raises SV001 for a key that is not good. */
export async function getTrackingModel(
  sql: Sql,
  keyHash: Buffer,
  known: number | null,
): Promise<Partial<TrackingModel> & { version: number | null }> {
  const [row] = await sql<[{ model: Partial<TrackingModel> & { version: number | null } }]>`
    select svc_api.get_tracking_model(${keyHash}, ${known}) as model`;
  return row.model;
}

/** The rate limit of a good ingestion key; raises SV001 for any other. */
export async function authenticateKey(sql: Sql, keyHash: Buffer): Promise<GoodKey> {
  const [row] = await sql<[{ key: GoodKey }]>`select svc_api.authenticate_key(${keyHash}) as key`;
  return row.key;
}

/** What was accepted after a position. */
export interface StreamPage {
  /** Public id and item (JSON text without line breaks) of each, in order of acceptance. */
  events: [id: string, item: string][];
  /** Where to go on; a number that may exceed a double. */
  position: string;
  /** Whether there is more already. */
  more: boolean;
}

const RETRY_DELAYS_MS = [50, 200, 500, 1_000];

/**
 * Makes a call, and makes it again where its connection was lost and `isWanted` says that somebody still waits for the answer. The id
 * that all tries have in common tells the database that an earlier one may have been accepted, so nothing is stored twice. What still
 * fails then is thrown.
 */
export async function withRetries<T>(
  attempt: (call: Omit<IngestCall, "keyHash">) => Promise<T>,
  isWanted: () => boolean | Promise<boolean>,
): Promise<T> {
  const batchId = randomUUID();
  for (let tries = 0; ; tries++) {
    try {
      return await attempt({ batchId, repeated: tries > 0 });
    } catch (error) {
      const pause = RETRY_DELAYS_MS[tries];
      if (pause === undefined || !isTransient(error)) throw error;
      await delay(pause);
      if (!(await isWanted())) throw error;
    }
  }
}
