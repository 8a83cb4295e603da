import { list } from "../model/snapshot/problem.js";
import { nearest } from "../model/snapshot/suggestion.js";
import { codeOf, isUnavailable } from "../db/sqlstate.js";
import type { RequestProblem } from "../ingestion/request.js";
import { TEXTS } from "./error-texts.js";

/** One problem of a document; an error lists all of them. */
export interface ErrorDiagnostic {
  code: string;
  message: string;
  path: string;
}

/** A readiness check that failed. */
export interface FailedCheck {
  name: "startup" | "stopping" | "database" | "migrations" | "worker";
  /** One sentence, visible to the public. */
  message: string;
}

/** The detail that a database function attaches to an error, and that the envelope shows. */
export interface ErrorDetail {
  message?: string | undefined;
  field?: string | undefined;
  value?: unknown;
  reason?: string | undefined;
  fix?: string | undefined;
  /** All violations of a strict schema; problems of any other kind are in `problems`. */
  diagnostics?: readonly ErrorDiagnostic[] | undefined;
  problems?: readonly ErrorDiagnostic[] | undefined;
  /** Warnings that `force` overrides. */
  warnings?: readonly ErrorDiagnostic[] | undefined;
  checks?: readonly FailedCheck[] | undefined;
}

interface ApiErrorOptions extends ErrorDetail {
  /** Headers of the answer. */
  headers?: Readonly<Record<string, string>>;
  /** For the log only. */
  cause?: unknown;
}

/** A failure with a status, a stable code and a message. Everything but `cause` is sent to the client. */
export class ApiError extends Error {
  override name = "ApiError";
  readonly headers: Readonly<Record<string, string>>;
  readonly detail: ErrorDetail;

  constructor(
    readonly status: number,
    readonly code: string,
    { headers = {}, cause, ...detail }: ApiErrorOptions = {},
  ) {
    super(detail.message ?? TEXTS[code]?.message ?? "The request was refused.", cause === undefined ? {} : { cause });
    this.headers = { ...HEADERS_BY_STATUS[status], ...headers };
    this.detail = detail;
  }
}

/** The refusal of a member or parameter of a request: `message` says what is wrong with it, `fix` what to send instead. */
export function invalidField(field: string, value: unknown, message: string, fix: string): ApiError {
  return new ApiError(400, "VALIDATION_ERROR", { message, field, value, fix });
}

/** Throws the problem of a request with operations, if it has one. */
export function throwProblem(problem: RequestProblem | null): void {
  if (problem === null) return;
  const { code, ...detail } = problem;
  throw new ApiError(400, code, detail);
}

/** Too many requests are waiting, by default for the database. This one was not accepted and can be sent again. */
export class QueueFullError extends ApiError {
  constructor(reason = "Too many requests are waiting for the database.") {
    super(503, "SERVICE_UNAVAILABLE", { reason });
  }
}

/** The database did not answer in time. It may still carry out the request, so only the same request may be sent again. */
export class OverdueError extends ApiError {
  constructor() {
    super(503, "SERVICE_UNAVAILABLE", { reason: "The database does not answer." });
  }
}

/** The error envelope of every failed request. */
export type ErrorEnvelope = ReturnType<typeof renderError>;

/** Address of the documentation, without a slash at the end; a function if it is known only once the service listens. If undefined,
 * errors have no `docs`. */
export type DocsUrl = string | (() => string) | undefined;

/** Renders the envelope; JSON leaves out members that are undefined. */
export function renderError(error: ApiError, requestId: string, docsUrl: DocsUrl) {
  const docs = typeof docsUrl === "function" ? docsUrl() : docsUrl;
  const { field, value, reason, fix = TEXTS[error.code]?.fix, diagnostics, problems, warnings, checks } = error.detail;
  const { code, message } = error;
  const section = docs === undefined ? undefined : `${docs}/api#${code}`;
  const listed = { diagnostics, problems, warnings, checks };
  return { error: { code, message, requestId, field, value, reason, fix, docs: section, ...listed } };
}

const HEADERS_BY_STATUS: Readonly<Record<number, Readonly<Record<string, string>>>> = {
  401: { "WWW-Authenticate": "Bearer" },
  503: { "Retry-After": "1" },
};

/** Our own SQLSTATEs, one for each kind of refusal. The message of such an error is the API code, its detail is an ErrorDetail. */
const STATUS_BY_SQLSTATE: Readonly<Record<string, number>> = {
  SV001: 401,
  SV002: 402,
  SV003: 403,
  SV004: 404,
  SV005: 409,
  SV006: 400,
  SV007: 422,
  SV008: 429,
  SV009: 429,
  SV012: 503,
};

/** Overrides the headers of the status: an environment is frozen for minutes. */
const HEADERS_BY_SQLSTATE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  SV012: { "Retry-After": "10" },
};

type Outcome = Readonly<{ status: number; code: string } & ErrorDetail>;

const INVALID = { status: 400, code: "VALIDATION_ERROR", message: "The request has a value that cannot be stored." };
const TOO_LARGE: Outcome = {
  status: 413,
  code: "PAYLOAD_TOO_LARGE",
  reason: "It has more values than the database can take in one request.",
};
const UNAVAILABLE: Outcome = { status: 503, code: "SERVICE_UNAVAILABLE" };
const INTERNAL: Outcome = { status: 500, code: "INTERNAL_ERROR" };

/** Constraints that a request can violate, by prefixes of their names, because a distributed database appends to them. */
const BY_CONSTRAINT: readonly (readonly [prefix: string, outcome: Outcome])[] = [
  ["projects_slug_key", { status: 409, code: "SLUG_TAKEN", field: "slug" }],
  ["projects_slug_form", { status: 400, code: "VALIDATION_ERROR", field: "slug" }],
  // The first attempt of a repeated call still runs, and took very long; after it ends, a repetition gets its result.
  ["ingest_batches_batch_id_key", { status: 503, code: "SERVICE_UNAVAILABLE" }],
  ["projects_name_length", { status: 400, code: "VALIDATION_ERROR", field: "name" }],
];

/** Errors of the database that a request causes: SQLSTATEs, then classes of them; the first match counts. */
const BY_CODE: readonly (readonly [prefix: string, outcome: Outcome])[] = [
  ["22021", { ...INVALID, reason: "Text must be UTF-8 and must not hold the character U+0000." }],
  ["22P05", { ...INVALID, reason: "Text must not hold the character U+0000 or half of a surrogate pair." }],
  ["22003", { ...INVALID, reason: "A number is out of range." }],
  ["22", INVALID], // data exceptions
  ["54000", TOO_LARGE], // its jsonb is larger than PostgreSQL can hold, for example for 64 MiB of small numbers
  ["54", INVALID], // program limits
];

/**
 * Converts anything thrown to an ApiError: the only translation of the database's errors. An unexpected error becomes an INTERNAL_ERROR
 * without details, with the error as its `cause` for the log.
 */
export function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const raised = error as { message?: unknown; detail?: unknown } | null;
  const code = codeOf(error);
  if (code in STATUS_BY_SQLSTATE)
    return refusal(code, String(raised?.message), { ...readDetail(raised?.detail), cause: error });
  const known = find(BY_CONSTRAINT, constraintOf(error)) ?? (isUnavailable(error) ? UNAVAILABLE : find(BY_CODE, code));
  const { status, code: apiCode, ...detail } = known ?? INTERNAL;
  return new ApiError(status, apiCode, { ...detail, cause: error });
}

/** The constraint that a row would have violated; of a node's error, Citus passes on only the message. */
function constraintOf(error: unknown): string {
  const raised = error as { message?: unknown; constraint_name?: unknown } | null;
  if (typeof raised?.constraint_name === "string") return raised.constraint_name;
  return codeOf(error) === "23505" ? (/constraint "(\w+)"/.exec(String(raised?.message))?.[1] ?? "") : "";
}

/** The refusal for one of our SQLSTATEs; `code` is the API code. */
export function refusal(sqlstate: string, code: string, options: ApiErrorOptions): ApiError {
  const status = STATUS_BY_SQLSTATE[sqlstate];
  if (status !== undefined) {
    return new ApiError(status, code, {
      ...options,
      headers: { ...HEADERS_BY_SQLSTATE[sqlstate], ...options.headers },
    });
  }
  return new ApiError(INTERNAL.status, INTERNAL.code, { cause: new Error(`unknown SQLSTATE ${sqlstate}`) });
}

function find(table: readonly (readonly [prefix: string, outcome: Outcome])[], text: string): Outcome | undefined {
  return text === "" ? undefined : table.find(([prefix]) => text.startsWith(prefix))?.[1];
}

/** SQL writes null for an absent member, and `unknown` with an unknown name and the known ones. */
function readDetail(detail: unknown): ErrorDetail {
  if (typeof detail !== "string" || !detail.startsWith("{")) return {};
  const { unknown, ...members } = JSON.parse(detail) as { unknown?: { name: string; known: string[] } };
  const given = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
  if (unknown === undefined || unknown.known.length === 0) return given;
  const suggestion = nearest(unknown.name, unknown.known);
  const fix = suggestion === undefined ? `Use one of ${list(unknown.known)}.` : `Did you mean "${suggestion}"?`;
  return { ...given, fix };
}

/** Settles like the promise, or rejects with an OverdueError after `msMax`; the work behind the promise continues. */
export async function withTimeout<T>(msMax: number, promise: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const overdue = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new OverdueError()), msMax);
  });
  try {
    return await Promise.race([promise, overdue]);
  } finally {
    clearTimeout(timer);
  }
}
