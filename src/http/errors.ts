import { list } from "../model/snapshot/problem.js";
import { nearest } from "../model/snapshot/suggestion.js";
import { codeOf, isUnavailable } from "../db/sqlstate.js";
import { TEXTS } from "./error-texts.js";

/** One of the things wrong with a document, all of which are listed. */
export interface ErrorDiagnostic {
  code: string;
  message: string;
  path: string;
}

/** A check of readiness that failed. */
export interface FailedCheck {
  name: "startup" | "stopping" | "database" | "migrations" | "worker";
  /** One sentence, which is public. */
  message: string;
}

/** What a function of the database puts into the detail of an error, and what the envelope shows of it. */
export interface ErrorDetail {
  message?: string | undefined;
  field?: string | undefined;
  value?: unknown;
  reason?: string | undefined;
  fix?: string | undefined;
  /** All violations of a strict schema. Anything else that is wrong in several places has `problems`. */
  diagnostics?: readonly ErrorDiagnostic[] | undefined;
  problems?: readonly ErrorDiagnostic[] | undefined;
  /** What `force` goes on despite. */
  warnings?: readonly ErrorDiagnostic[] | undefined;
  checks?: readonly FailedCheck[] | undefined;
}

interface ApiErrorOptions extends ErrorDetail {
  /** Headers of the answer. */
  headers?: Readonly<Record<string, string>>;
  /** For the log only. */
  cause?: unknown;
}

/** A failure with a status, a stable code and a message that may be shown. Everything but `cause` goes to the client. */
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

/** Refuses a member or a parameter of a request: what is wrong with its value, and what to send instead. */
export function invalidField(field: string, value: unknown, message: string, fix: string): ApiError {
  return new ApiError(400, "VALIDATION_ERROR", { message, field, value, fix });
}

/** Too many requests wait, for the database unless another reason is given: this one was not taken and may be sent again. */
export class QueueFullError extends ApiError {
  constructor(reason = "Too many requests wait for the database.") {
    super(503, "SERVICE_UNAVAILABLE", { reason });
  }
}

/** The database did not answer in time. What was asked of it may still happen, so only the same request may be sent again. */
export class OverdueError extends ApiError {
  constructor() {
    super(503, "SERVICE_UNAVAILABLE", { reason: "The database does not answer." });
  }
}

/** The error envelope of every failed request. */
export interface ErrorEnvelope {
  error: { code: string; message: string; requestId: string; docs?: string | undefined } & Omit<ErrorDetail, "message">;
}

/** Address of the documentation, without a slash at the end; a function where it is known only once the service listens. Without one,
 * errors have no `docs`. */
export type DocsUrl = string | (() => string) | undefined;

/** Renders the envelope; members that say nothing are undefined, which JSON leaves out. */
export function renderError(error: ApiError, requestId: string, docsUrl: DocsUrl): ErrorEnvelope {
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

/** Our own SQLSTATEs, one for each kind of refusal. The message of such an error is the API code, its detail an ErrorDetail. */
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

/** Where a status says less: an environment is frozen for minutes. */
const HEADERS_BY_SQLSTATE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  SV012: { "Retry-After": "10" },
};

type Outcome = Readonly<{ status: number; code: string } & ErrorDetail>;

const INVALID = { status: 400, code: "VALIDATION_ERROR", message: "The request holds a value that cannot be stored." };
const TOO_LARGE: Outcome = {
  status: 413,
  code: "PAYLOAD_TOO_LARGE",
  reason: "It holds more values than the database can take in one request.",
};
const UNAVAILABLE: Outcome = { status: 503, code: "SERVICE_UNAVAILABLE" };
const INTERNAL: Outcome = { status: 500, code: "INTERNAL_ERROR" };

/** Constraints that a request can violate, by the beginning of their names: a distributed database appends to them. */
const BY_CONSTRAINT: readonly (readonly [prefix: string, outcome: Outcome])[] = [
  ["projects_slug_key", { status: 409, code: "SLUG_TAKEN", field: "slug" }],
  ["projects_slug_form", { status: 400, code: "VALIDATION_ERROR", field: "slug" }],
  // A repeated call whose first try took very long: once it has ended, its outcome is answered.
  ["ingest_batches_batch_id_key", { status: 503, code: "SERVICE_UNAVAILABLE" }],
  ["projects_name_length", { status: 400, code: "VALIDATION_ERROR", field: "name" }],
];

/** What the server refuses of a request: exact codes, then the beginnings of codes, in this order. */
const BY_CODE: readonly (readonly [prefix: string, outcome: Outcome])[] = [
  ["22021", { ...INVALID, reason: "Text must be UTF-8 and must not hold the character U+0000." }],
  ["22P05", { ...INVALID, reason: "Text must not hold the character U+0000 or half of a surrogate pair." }],
  ["22003", { ...INVALID, reason: "A number is out of range." }],
  ["22", INVALID], // data exceptions
  ["54000", TOO_LARGE], // its jsonb is larger than PostgreSQL can hold, as 64 MiB of small numbers are
  ["54", INVALID], // program limits
];

/**
 * Makes an answer of anything thrown: the one translation of the database's errors. What nobody foresaw becomes an INTERNAL_ERROR
 * that says nothing, with the error as its `cause` for the log.
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

/** The constraint that a row would have violated; Citus passes on no more of what a node says than the message. */
function constraintOf(error: unknown): string {
  const raised = error as { message?: unknown; constraint_name?: unknown } | null;
  if (typeof raised?.constraint_name === "string") return raised.constraint_name;
  return codeOf(error) === "23505" ? (/constraint "(\w+)"/.exec(String(raised?.message))?.[1] ?? "") : "";
}

/** The refusal that one of our SQLSTATEs stands for; `code` is the API code. */
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

/** SQL writes null for a member that it leaves out, and of an unknown name which ones are known. */
function readDetail(detail: unknown): ErrorDetail {
  if (typeof detail !== "string" || !detail.startsWith("{")) return {};
  const { unknown, ...members } = JSON.parse(detail) as { unknown?: { name: string; known: string[] } };
  const given = Object.fromEntries(Object.entries(members).filter(([, value]) => value !== null));
  if (unknown === undefined || unknown.known.length === 0) return given;
  const meant = nearest(unknown.name, unknown.known);
  return { ...given, fix: meant === undefined ? `Use one of ${list(unknown.known)}.` : `Did you mean "${meant}"?` };
}

/** As the promise settles, or an OverdueError after so many milliseconds; what was begun goes on. */
export async function within<T>(msMax: number, promise: Promise<T>): Promise<T> {
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
