import type { Context } from "koa";
import type { Logger } from "pino";
import { isDiskFull } from "../../db/sqlstate.js";
import type { Allowance, ValidKey, IngestFailure } from "../../db/api/ingestion.js";
import type { ProcessMetrics } from "../../metrics/process-metrics.js";
import { ApiError, refusal } from "../errors.js";
import { addToLogLine } from "../middleware/request-log.js";
import { bearerToken, hashCredential } from "../request/credentials.js";
import type { Ingestor } from "./ingestor.js";
import type { KeyHolder } from "./keyed-call-queue.js";

/** The parts of the ingestor that the routes use. */
export type IngestBackend = Pick<Ingestor, "batch" | "single" | "trackingModel">;

export interface IngestDeps {
  backend: IngestBackend;
  /** Refuses an invalid key before the body is read; in the service it is KeyCheck.require. */
  requireKey: (keyHash: Buffer) => Promise<ValidKey>;
  log: Logger;
  /** Counts accepted operations and refused requests. */
  outcomes?: Pick<ProcessMetrics, "accepted" | "refused">;
  disk?: DiskFull;
}

/**
 * Whether the database's disk is full, judging by failed writes: a probe that writes little could succeed where a batch fails.
 */
export class DiskFull {
  #until = 0;

  /** To be called for each failed write. */
  failed(error: unknown): void {
    // Ready again after 10 s, so that the next write shows whether there is space.
    if (isDiskFull(error)) this.#until = performance.now() + 10_000;
  }

  /** To be called for each successful write. */
  written(): void {
    this.#until = 0;
  }

  get isFull(): boolean {
    return performance.now() < this.#until;
  }
}

const KEY = /^svc_(test|live)_[\x21-\x7e]{1,200}$/;

/** Checks the key, and sets the rate-limit headers to the latest known numbers, which a later answer of the database replaces. */
export async function requireApiKey(
  ctx: Context,
  requireKey: IngestDeps["requireKey"],
  key: string | null = bearerToken(ctx),
) {
  if (key === null || !KEY.test(key)) throw new ApiError(401, "INVALID_API_KEY");
  const keyHash = hashCredential(key);
  const allowance = await requireKey(keyHash);
  showAllowance(ctx, allowance, allowance);
  addToLogLine(ctx, { organization: allowance.organizationId });
  const holder: KeyHolder = { organizationId: allowance.organizationId, keyHash };
  return { holder, allowance };
}

/** The error for a refusal that the database returned, or attached to an error as its detail. */
export function ingestError(failed: IngestFailure): ApiError {
  const { sqlstate, code, retryAfter, limit: _, remaining: __, ...detail } = failed;
  if (retryAfter === undefined) return refusal(sqlstate, code, detail);
  const headers = { "Retry-After": String(retryAfter), "RateLimit-Reset": String(retryAfter) };
  return refusal(sqlstate, code, { ...detail, headers });
}

/** The key's rate limit or the plan's events of a month are exceeded; both refusals say when to try again. */
const EXHAUSTED = /^SV00[89]$/;

/** Converts the refusal of a call for its rate or quota, and sets the rate-limit headers from it. */
export function explainRefusal(ctx: Context, allowance: Allowance) {
  return (error: unknown): never => {
    const { code, detail } = error as { code?: string; detail?: string };
    if (code === "SV001") for (const name of RATE_HEADERS) ctx.remove(name); // revoked after the check
    if (code === undefined || !EXHAUSTED.test(code) || detail === undefined) throw error;
    const failed = JSON.parse(detail) as IngestFailure;
    showAllowance(ctx, allowance, { limit: failed.limit ?? 0, remaining: failed.remaining ?? 0 });
    throw ingestError(failed);
  };
}

const RATE_HEADERS = ["RateLimit-Limit", "RateLimit-Remaining"] as const;

/** Sets the headers, and stores the numbers in `allowance` for requests that are refused without asking the database. */
export function showAllowance(ctx: Context, allowance: Allowance, { limit, remaining }: Allowance): void {
  Object.assign(allowance, { limit, remaining });
  const [limitHeader, remainingHeader] = RATE_HEADERS;
  ctx.set({ [limitHeader]: String(limit), [remainingHeader]: String(remaining) });
}

/** Logs violations of a schema that is not strict, whose operations were accepted, without customers' data. */
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
