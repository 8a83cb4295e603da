import type { Context } from "koa";
import type { Logger } from "pino";
import { isDiskFull } from "../../db/sqlstate.js";
import type { Allowance, GoodKey, IngestFailure } from "../../db/api/ingestion.js";
import {
  BATCH_BYTES_MAX,
  SINGLE_BYTES_MAX,
  batchRequestProblem,
  singleRequestProblem,
} from "../../ingestion/request.js";
import type { ProcessMetrics } from "../../metrics/process-metrics.js";
import { heldBody } from "../request/body-budget.js";
import { ClientGoneError, readJsonBody, readJsonText, type JsonBody } from "../request/body.js";
import { bearerToken, hashCredential } from "../request/credentials.js";
import { ApiError, refusal, toApiError } from "../errors.js";
import { atOnce, largeBodies, READ_AT_ONCE } from "../request/large-bodies.js";
import { parseJson } from "../request/parse-json.js";
import { noteInLog } from "../middleware/request-log.js";
import type { Route } from "../route.js";
import { refuse } from "./send-batch.js";
import type { Ingestor } from "./ingestor.js";
import type { KeyHolder } from "./keyed-call-queue.js";

/** What stands behind the two routes. */
export type IngestBackend = Pick<Ingestor, "batch" | "single">;

export interface IngestDeps {
  backend: IngestBackend;
  /** Refuses a bad key before the body is read; src/http/ingest/key-check.ts in the service. */
  requireKey: (keyHash: Buffer) => Promise<GoodKey>;
  log: Logger;
  /** Told what became of each request. */
  outcomes?: Pick<ProcessMetrics, "accepted" | "refused">;
  disk?: DiskFull;
}

/**
 * Whether the database's disk is full, which is known of what it could not write: a probe that writes little would find room where a batch
 * finds none.
 */
export class DiskFull {
  #until = 0;

  /** Told of each failure of a write. */
  failed(error: unknown): void {
    // For so long nobody should try; then somebody does.
    if (isDiskFull(error)) this.#until = performance.now() + 10_000;
  }

  /** Told of each write. */
  written(): void {
    this.#until = 0;
  }

  get isFull(): boolean {
    return performance.now() < this.#until;
  }
}

const KEY = /^svc_(test|live)_[\x21-\x7e]{1,200}$/;

/** POST /v1/events and POST /v1/events/batch. */
export function ingestRoutes(deps: IngestDeps): Route[] {
  const counted = (accept: typeof acceptBatch) => async (ctx: Context) => {
    try {
      await accept(ctx, deps);
      deps.disk?.written();
    } catch (error) {
      deps.disk?.failed(error);
      if (!(error instanceof ClientGoneError)) deps.outcomes?.refused(toApiError(error).code);
      throw error;
    }
  };
  return [
    { method: "POST", path: "/v1/events", handle: counted(acceptSingle) },
    { method: "POST", path: "/v1/events/batch", handle: counted(acceptBatch) },
  ];
}

async function acceptSingle(ctx: Context, { backend, requireKey, log, outcomes }: IngestDeps): Promise<void> {
  const { holder, allowance } = await requireApiKey(ctx, requireKey);
  const text = await readJsonText(ctx, SINGLE_BYTES_MAX);
  refuse(singleRequestProblem(parseJson(text), text));
  const answer = await backend.single(holder, text, heldBody(ctx)).catch(explainRefusal(ctx, allowance));
  showAllowance(ctx, allowance, answer);
  const { outcome, warning } = answer;
  if (!("eventId" in outcome)) throw failure(outcome);
  outcomes?.accepted(1, outcome.duplicate ? 1 : 0);
  if (warning) logWarnings(log, ctx, { 0: warning });
  noteInLog(ctx, { operations: 1 });
  ctx.status = 202;
  const { eventId, duplicate, quarantined } = outcome;
  ctx.body = { eventId, accepted: true, queued: true, duplicate, quarantined };
}

async function acceptBatch(ctx: Context, { backend, requireKey, log, outcomes }: IngestDeps): Promise<void> {
  const { holder, allowance } = await requireApiKey(ctx, requireKey);
  const body = await readBatch(ctx, allowance);
  const answer = await backend.batch(holder, body, heldBody(ctx)).catch(explainRefusal(ctx, allowance));
  showAllowance(ctx, allowance, answer);
  outcomes?.accepted(answer.accepted, answer.repeated);
  logWarnings(log, ctx, answer.warnings);
  noteInLog(ctx, { operations: answer.accepted });
  ctx.status = 202;
  // A member that says nothing is left out.
  const held = Object.entries(answer.quarantined ?? {}).map(([index, violation]) => ({
    index: Number(index),
    ...violation,
  }));
  const quarantined = held.length === 0 ? undefined : held;
  ctx.body = { accepted: answer.accepted, rejected: 0, eventIds: answer.eventIds, quarantined };
}

/** A batch whose shape is right. */
async function readBatch(ctx: Context, { organizationId }: GoodKey): Promise<JsonBody> {
  const body = await readJsonBody(ctx, BATCH_BYTES_MAX, READ_AT_ONCE.bytesMax);
  if (typeof body === "string" && atOnce(body, (value) => refuse(batchRequestProblem(value, body)))) return body;
  return largeBodies(ctx).run(organizationId, "checkBatch", body, (pieces) => pieces);
}

/** From here on every answer tells the rate limit; what is not heard of the database is what was last heard. */
async function requireApiKey(ctx: Context, requireKey: IngestDeps["requireKey"]) {
  const key = bearerToken(ctx);
  if (key === null || !KEY.test(key)) throw new ApiError(401, "INVALID_API_KEY");
  const keyHash = hashCredential(key);
  const allowance = await requireKey(keyHash);
  showAllowance(ctx, allowance, allowance);
  const holder: KeyHolder = { organizationId: allowance.organizationId, keyHash };
  return { holder, allowance };
}

/** A refusal that the database answered with, or put into the detail of an error. */
function failure(failed: IngestFailure): ApiError {
  const { sqlstate, code, retryAfter, limit: _, remaining: __, ...detail } = failed;
  if (retryAfter === undefined) return refusal(sqlstate, code, detail);
  const headers = { "Retry-After": String(retryAfter), "RateLimit-Reset": String(retryAfter) };
  return refusal(sqlstate, code, { ...detail, headers });
}

/** Too fast for the key's rate, and more than the plan's events of a month: both say when to come again. */
const EXHAUSTED = /^SV00[89]$/;

/** A call that was refused for its rate or quota tells the limit in its headers too. */
function explainRefusal(ctx: Context, allowance: Allowance) {
  return (error: unknown): never => {
    const { code, detail } = error as { code?: string; detail?: string };
    if (code === "SV001") for (const name of RATE_HEADERS) ctx.remove(name); // revoked since it was looked at
    if (code === undefined || !EXHAUSTED.test(code) || detail === undefined) throw error;
    const failed = JSON.parse(detail) as IngestFailure;
    showAllowance(ctx, allowance, { limit: failed.limit ?? 0, remaining: failed.remaining ?? 0 });
    throw failure(failed);
  };
}

const RATE_HEADERS = ["RateLimit-Limit", "RateLimit-Remaining"] as const;

/** Writes the headers, and notes the numbers for requests that are refused without asking the database. */
function showAllowance(ctx: Context, allowance: Allowance, { limit, remaining }: Allowance): void {
  Object.assign(allowance, { limit, remaining });
  const [limitHeader, remainingHeader] = RATE_HEADERS;
  ctx.set({ [limitHeader]: String(limit), [remainingHeader]: String(remaining) });
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
    "accepted operations violate the schema, which is not strict: see `svc diagnose`",
  );
}
