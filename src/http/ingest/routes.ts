import type { Context } from "koa";
import type { Logger } from "pino";
import type { BatchAnswer, IngestFailure } from "../../db/calls-ingest.js";
import { parseJson, readJsonText } from "../body.js";
import { bearerToken, hashCredential } from "../credentials.js";
import { ApiError, refusal } from "../errors.js";
import type { Route } from "../route.js";
import { QueueFullError, type SingleOutcome } from "./ingestor.js";
import { findBadLiteral } from "./literals.js";
import { BATCH_MAX, DOCUMENT_BYTES_MAX, operationProblem, trackProblem, type ShapeProblem } from "./shape.js";

/** What stands behind the two routes; src/http/ingest/ingestor.ts in the service. */
export interface IngestBackend {
  batch(keyHash: Buffer, body: string): Promise<BatchAnswer>;
  single(keyHash: Buffer, body: string): Promise<SingleOutcome>;
}

export interface IngestDeps {
  backend: IngestBackend;
  /** Refuses a bad key before the body is read. */
  requireKey: (keyHash: Buffer) => Promise<void>;
  log: Logger;
}

const MIB = 1024 * 1024;
/** 1,000 operations of 64 KiB and their other fields, with room for the caller's escapes and white space. */
const BATCH_BYTES_MAX = 96 * MIB;
const SINGLE_BYTES_MAX = MIB / 2;
/** Numbers can grow sixfold where they are written out (1e20), so a smaller body cannot hold a document over the limit. */
const SURELY_SMALL_BYTES = DOCUMENT_BYTES_MAX / 6;

const KEY = /^svc_(test|live)_[\x21-\x7e]{1,200}$/;

/** POST /v1/events and POST /v1/events/batch. */
export function ingestRoutes(deps: IngestDeps): Route[] {
  return [
    { method: "POST", path: "/v1/events", handle: (ctx) => acceptSingle(ctx, deps) },
    { method: "POST", path: "/v1/events/batch", handle: (ctx) => acceptBatch(ctx, deps) },
  ];
}

async function acceptSingle(ctx: Context, { backend, requireKey, log }: IngestDeps): Promise<void> {
  const keyHash = await requireApiKey(ctx, requireKey);
  const text = await readJsonText(ctx, SINGLE_BYTES_MAX);
  refuse(trackProblem(parseJson(text), "", text.length > SURELY_SMALL_BYTES));
  refuseBadLiteral(text);
  const { limit, remaining, outcome, warning } = await backend.single(keyHash, text).catch(explainRefusal(ctx));
  setRateHeaders(ctx, limit, remaining);
  if (!("eventId" in outcome)) throw failure(outcome);
  if (warning) logWarnings(log, ctx, { 0: warning });
  ctx.status = 202;
  ctx.body = { eventId: outcome.eventId, accepted: true, queued: true, duplicate: outcome.duplicate };
}

async function acceptBatch(ctx: Context, { backend, requireKey, log }: IngestDeps): Promise<void> {
  const keyHash = await requireApiKey(ctx, requireKey);
  const text = await readJsonText(ctx, BATCH_BYTES_MAX);
  refuseBadBatch(parseJson(text), text.length > SURELY_SMALL_BYTES);
  refuseBadLiteral(text);
  const answer = await backend.batch(keyHash, text).catch(explainRefusal(ctx));
  setRateHeaders(ctx, answer.limit, answer.remaining);
  logWarnings(log, ctx, answer.warnings);
  ctx.status = 202;
  ctx.body = { accepted: answer.accepted, rejected: 0, eventIds: answer.eventIds };
}

async function requireApiKey(ctx: Context, requireKey: IngestDeps["requireKey"]): Promise<Buffer> {
  const key = bearerToken(ctx);
  if (key === null || !KEY.test(key)) throw new ApiError(401, "INVALID_API_KEY");
  const keyHash = hashCredential(key);
  await requireKey(keyHash);
  return keyHash;
}

function refuseBadBatch(body: unknown, checkSizes: boolean): void {
  if (typeof body !== "object" || body === null || Array.isArray(body)) {
    throw invalid({ message: "The body must be a JSON object.", fix: 'Send {"events": [ … ]}.' });
  }
  const { events, ...others } = body as Record<string, unknown>;
  if (!Array.isArray(events)) {
    throw invalid({ message: "`events` must be an array.", field: "events", fix: 'Send {"events": [ … ]}.' });
  }
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw invalid({ message: `\`${unknown}\` is not a field of a batch.`, field: unknown, fix: "Remove it." });
  }
  if (events.length < 1 || events.length > BATCH_MAX) {
    throw new ApiError(400, "BATCH_SIZE_INVALID", {
      message: `A batch has 1 to ${BATCH_MAX.toLocaleString("en-US")} operations.`,
      field: "events",
      reason: `This one has ${events.length}.`,
      fix: events.length === 0 ? "Send at least one operation." : "Split it into several requests.",
    });
  }
  events.forEach((operation, index) => refuse(operationProblem(operation, `events[${index}]`, checkSizes)));
}

function refuse(problem: ShapeProblem | null): void {
  if (problem) throw invalid(problem);
}

function refuseBadLiteral(text: string): void {
  const bad = findBadLiteral(text);
  if (!bad) return;
  throw invalid({
    message: "The body holds a value that cannot be stored.",
    value: bad.literal,
    reason: bad.reason,
    fix: "Remove or change the value.",
  });
}

function invalid(problem: ShapeProblem): ApiError {
  return new ApiError(400, "VALIDATION_ERROR", problem);
}

/** A refusal that the database answered with, or put into the detail of an error. */
function failure(failed: IngestFailure): ApiError {
  const { sqlstate, code, retryAfter, limit: _, remaining: __, ...detail } = failed;
  const error = refusal(sqlstate, code, detail);
  return retryAfter === undefined
    ? error
    : new ApiError(error.status, error.code, {
        ...error.detail,
        headers: { "Retry-After": String(retryAfter), "RateLimit-Reset": String(retryAfter) },
      });
}

/** A call that was refused for its rate names the limit in its headers too; one that found the queue full may come again. */
function explainRefusal(ctx: Context) {
  return (error: unknown): never => {
    if (error instanceof QueueFullError) throw new ApiError(503, "SERVICE_UNAVAILABLE", { cause: error });
    const { code, detail } = error as { code?: string; detail?: string };
    if (code !== "SV008" || detail === undefined) throw error;
    const failed = JSON.parse(detail) as IngestFailure;
    setRateHeaders(ctx, failed.limit ?? 0, failed.remaining ?? 0);
    throw failure(failed);
  };
}

function setRateHeaders(ctx: Context, limit: number, remaining: number): void {
  ctx.set({ "RateLimit-Limit": String(limit), "RateLimit-Remaining": String(remaining) });
}

/** Violations of a schema that is not strict: accepted, and said in the log without a customer's data. */
function logWarnings(log: Logger, ctx: Context, warnings: Record<string, IngestFailure>): void {
  const failures = Object.values(warnings);
  if (failures.length === 0) return;
  const diagnostics = failures.flatMap(({ diagnostics = [] }) => diagnostics);
  log.warn(
    {
      requestId: ctx.state["requestId"] as string,
      operations: failures.length,
      diagnostics: diagnostics.slice(0, 20).map(({ code, path }) => ({ code, path })),
    },
    "operations violate the schema; it is not strict, so they were accepted",
  );
}
