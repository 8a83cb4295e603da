import { ClientError, type Diagnostic } from "./errors.js";
import { isTemporary, retryAfterMs } from "./retry.js";

/** An answer of the service, or of whatever stands in its place. */
export interface Answer {
  status: number;
  text: string;
  retryAfter: string | null;
}

/** What a batch's answer means. */
export type AnswerOutcome =
  | { kind: "accepted"; eventIds: readonly string[] }
  /** It may pass: the same again, not before `waitMs` where the service named a time. */
  | { kind: "again"; error: ClientError; waitMs: number | null }
  /** These operations, by their place in the batch, keep the whole of it from being taken. */
  | { kind: "refused"; errors: ReadonlyMap<number, ClientError> }
  /** Something of it cannot be taken, but not which: fewer at once. */
  | { kind: "divide"; error: ClientError; isTooLarge: boolean }
  /** Nothing of ours will be taken: the key, the plan, the quota. After `waitMs` it may be, where the service named a time. */
  | { kind: "stop"; error: ClientError; waitMs: number | null };

/** What is waited for in place. A quota that is used up says to come back next month. */
const WAIT_MS_MAX = 600_000;

/**
 * Reads the answer to a batch of so many operations, of which so many are tracks, at an instant in milliseconds. Only the service's own words stop the
 * client, or cost an operation: whatever else answers, a proxy or a page of some network, is an outage like any other. But for 413, which proxies say,
 * too, and where smaller batches help.
 */
export function readAnswer(answer: Answer, operations: number, tracks: number, now: number): AnswerOutcome {
  const { status, text } = answer;
  if (status === 202) {
    const eventIds = acceptedIds(text, operations, tracks);
    return eventIds === null ? unexpected(answer) : { kind: "accepted", eventIds };
  }
  const envelope = readEnvelope(text);
  if (isTemporary(status)) {
    const waitMs = retryAfterMs(answer.retryAfter, now);
    const error = envelope === null ? unexpected(answer).error : errorOf(envelope, status);
    return { kind: (waitMs ?? 0) > WAIT_MS_MAX ? "stop" : "again", error, waitMs };
  }
  if (status === 413) {
    const said = envelope && errorOf(envelope, status);
    const error = said ?? new ClientError("PAYLOAD_TOO_LARGE", "the request is too large", { status });
    return { kind: "divide", error, isTooLarge: true };
  }
  if (envelope === null) return unexpected(answer);
  const error = errorOf(envelope, status);
  if (![400, 409, 422].includes(status)) return { kind: "stop", error, waitMs: null };
  const errors = refusedOperations(envelope, status, operations);
  return errors.size === 0 ? { kind: "divide", error, isTooLarge: false } : { kind: "refused", errors };
}

/** The ids of a batch's events from the answer to it: an accepted batch is accepted whole, with an id for each event. Null from anything else. */
export function acceptedIds(text: string, operations: number, tracks: number): string[] | null {
  const answer = parsed(text) as { accepted?: unknown; rejected?: unknown; eventIds?: unknown } | null;
  const ids = answer?.eventIds;
  const isWhole = answer?.accepted === operations && answer.rejected === 0;
  return isWhole && Array.isArray(ids) && ids.length === tracks && ids.every((id) => typeof id === "string")
    ? ids
    : null;
}

/** The service's description of an error. */
export interface Envelope {
  code: string;
  message: string | null;
  field: string | null;
  fix: string | null;
  requestId: string | null;
  diagnostics: readonly Diagnostic[];
}

/** The error envelope that a text is; null for what the service did not write: it always gives a code. */
export function readEnvelope(text: string): Envelope | null {
  const error = (parsed(text) as { error?: Record<string, unknown> | null } | null)?.error;
  const read = (name: string): string | null => (typeof error?.[name] === "string" ? error[name] : null);
  const code = read("code");
  if (code === null) return null;
  const listed: unknown[] = Array.isArray(error?.["diagnostics"]) ? error["diagnostics"] : [];
  const diagnostics = listed.filter(isDiagnostic);
  return {
    code,
    message: read("message"),
    field: read("field"),
    fix: read("fix"),
    requestId: read("requestId"),
    diagnostics,
  };
}

function isDiagnostic(value: unknown): value is Diagnostic {
  const { code, message, path } = (value ?? {}) as Partial<Record<string, unknown>>;
  return [code, message, path].every((part) => typeof part === "string");
}

/** An error for each operation that the service names: of a schema and of idempotency keys all that are wrong, of anything else the first. */
function refusedOperations(envelope: Envelope, status: number, operations: number): Map<number, ClientError> {
  const { field, diagnostics } = envelope;
  const own = new Map<number, Diagnostic[]>();
  for (const each of diagnostics) {
    const place = placeOf(each.path, operations);
    if (place === null) continue;
    const found = own.get(place.index) ?? [];
    own.set(place.index, [...found, { ...each, path: place.within, message: ownWords(each.message, place.index) }]);
  }
  const errors = new Map<number, ClientError>();
  const first = field === null ? null : placeOf(field, operations);
  if (first !== null) {
    const diagnostics = own.get(first.index) ?? [];
    const message = envelope.message === null ? null : ownWords(envelope.message, first.index);
    errors.set(first.index, errorOf({ ...envelope, message, field: first.within, diagnostics }, status));
  }
  for (const [index, [diagnostic, ...others]] of own) {
    if (errors.has(index) || diagnostic === undefined) continue;
    const { code, message, path } = diagnostic;
    const described = { ...envelope, code, message, field: path, fix: null, diagnostics: [diagnostic, ...others] };
    errors.set(index, errorOf(described, status));
  }
  return errors;
}

/** Whoever made one operation knows nothing of the batch, and of its place there. */
function ownWords(message: string, index: number): string {
  return message.replaceAll(`events[${index}].`, "");
}

/** Of `events[3].properties.amount`: 3, and `properties.amount`. */
function placeOf(path: string, operations: number): { index: number; within: string } | null {
  const [, digits, within = ""] = /^events\[(\d+)\]\.?(.*)$/s.exec(path) ?? [];
  return digits === undefined || Number(digits) >= operations ? null : { index: Number(digits), within };
}

function errorOf({ code, message, ...details }: Envelope, status: number): ClientError {
  const where = details.field === null || details.field === "" ? "" : `${details.field}: `;
  return new ClientError(code, `${where}${message ?? code}`, { ...details, status });
}

function unexpected({ status, text }: Answer): { kind: "again"; error: ClientError; waitMs: null } {
  const message = `the answer is not one of the service (${status}): ${text.slice(0, 200)}`;
  return { kind: "again", error: new ClientError("UNEXPECTED_ANSWER", message, { status }), waitMs: null };
}

/** Null for what is no JSON: the answer of a proxy, or of nothing at all. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
