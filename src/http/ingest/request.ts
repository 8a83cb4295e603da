import type { Context } from "koa";
import type { Logger } from "pino";
import { isDiskFull } from "../../db/sqlstate.js";
import type { Allowance, GoodKey, IngestFailure } from "../../db/api/ingestion.js";
import type { ProcessMetrics } from "../../metrics/process-metrics.js";
import { ApiError, refusal } from "../errors.js";
import { bearerToken, hashCredential } from "../request/credentials.js";
import type { Ingestor } from "./ingestor.js";
import type { KeyHolder } from "./keyed-call-queue.js";

/** What stands behind the routes. */
export type IngestBackend = Pick<Ingestor, "batch" | "single" | "trackingModel">;

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

/** From here on every answer tells the rate limit; what is not heard of the database is what was last heard. */
export async function requireApiKey(
  ctx: Context,
  requireKey: IngestDeps["requireKey"],
  key: string | null = bearerToken(ctx),
) {
  if (key === null || !KEY.test(key)) throw new ApiError(401, "INVALID_API_KEY");
  const keyHash = hashCredential(key);
  const allowance = await requireKey(keyHash);
  showAllowance(ctx, allowance, allowance);
  const holder: KeyHolder = { organizationId: allowance.organizationId, keyHash };
  return { holder, allowance };
}

/** A refusal that the database answered with, or put into the detail of an error. */
export function ingestError(failed: IngestFailure): ApiError {
  const { sqlstate, code, retryAfter, limit: _, remaining: __, ...detail } = failed;
  if (retryAfter === undefined) return refusal(sqlstate, code, detail);
  const headers = { "Retry-After": String(retryAfter), "RateLimit-Reset": String(retryAfter) };
  return refusal(sqlstate, code, { ...detail, headers });
}

/** Too fast for the key's rate, and more than the plan's events of a month: both say when to come again. */
const EXHAUSTED = /^SV00[89]$/;

/** A call that was refused for its rate or quota tells the limit in its headers too. */
export function explainRefusal(ctx: Context, allowance: Allowance) {
  return (error: unknown): never => {
    const { code, detail } = error as { code?: string; detail?: string };
    if (code === "SV001") for (const name of RATE_HEADERS) ctx.remove(name); // revoked since it was looked at
    if (code === undefined || !EXHAUSTED.test(code) || detail === undefined) throw error;
    const failed = JSON.parse(detail) as IngestFailure;
    showAllowance(ctx, allowance, { limit: failed.limit ?? 0, remaining: failed.remaining ?? 0 });
    throw ingestError(failed);
  };
}

const RATE_HEADERS = ["RateLimit-Limit", "RateLimit-Remaining"] as const;

/** Writes the headers, and notes the numbers for requests that are refused without asking the database. */
export function showAllowance(ctx: Context, allowance: Allowance, { limit, remaining }: Allowance): void {
  Object.assign(allowance, { limit, remaining });
  const [limitHeader, remainingHeader] = RATE_HEADERS;
  ctx.set({ [limitHeader]: String(limit), [remainingHeader]: String(remaining) });
}

/** Violations of a schema that is not strict: accepted, and said in the log without a customer's data. */
export function logWarnings(log: Logger, ctx: Context, warnings: Record<string, IngestFailure>): void {
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
