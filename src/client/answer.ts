import { ClientError, type Diagnostic } from "./errors.js";
import { isTemporary, retryAfterMs } from "./backoff.js";

/** An HTTP response of the service, or of a proxy in front of it. */
export interface Answer {
  status: number;
  text: string;
  retryAfter: string | null;
  /** Where a redirect leads. */
  location: string | null;
}

/** What the answer to a batch means. */
export type AnswerOutcome =
  | { kind: "accepted"; eventIds: readonly string[] }
  /** A temporary failure: send the same batch again, after at least `waitMs` if the service named a time. */
  | { kind: "again"; error: ClientError; waitMs: number | null }
  /** The batch was refused because of these operations, by their index in it. */
  | { kind: "refused"; errors: ReadonlyMap<number, ClientError> }
  /** The batch was refused, but the answer does not say because of which operations: send smaller batches. */
  | { kind: "divide"; error: ClientError; isTooLarge: boolean }
  /** The service accepts nothing of this client, because of the key, the plan or the quota. Try again after `waitMs`. */
  | { kind: "stop"; error: ClientError; waitMs: number };

/**
 * The longest pause before a retry, whatever `Retry-After` says, and the pause after a stop. A longer one with the service's 429 is a stop, too: a monthly quota is
 * used up until the next month begins.
 */
const WAIT_MS_MAX = 600_000;

/**
 * Interprets the answer to a batch. Only an answer of the service itself stops the client or drops an operation: any other, from a proxy or a captive portal,
 * is treated as an outage. The exception is 413, which proxies send, too, and where smaller batches help.
 *
 * @param operations how many the batch has @param tracks how many of these are tracks @param now in milliseconds since the epoch
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
    if (waitMs === null || waitMs <= WAIT_MS_MAX) return { kind: "again", error, waitMs };
    return status === 429 && envelope !== null
      ? { kind: "stop", error, waitMs }
      : { kind: "again", error, waitMs: WAIT_MS_MAX };
  }
  if (status === 413) {
    const reported = envelope && errorOf(envelope, status);
    const error = reported ?? new ClientError("PAYLOAD_TOO_LARGE", "the request is too large", { status });
    return { kind: "divide", error, isTooLarge: true };
  }
  if (envelope === null) return unexpected(answer);
  const error = errorOf(envelope, status);
  if (![400, 409, 422].includes(status)) return { kind: "stop", error, waitMs: WAIT_MS_MAX };
  const errors = refusedOperations(envelope, status, operations);
  return errors.size === 0 ? { kind: "divide", error, isTooLarge: false } : { kind: "refused", errors };
}

/** The ids of a batch's events, from the answer to it. A batch is accepted as a whole, with an id for each event; null for any other answer. */
export function acceptedIds(text: string, operations: number, tracks: number): string[] | null {
  const answer = parsed(text) as { accepted?: unknown; rejected?: unknown; eventIds?: unknown } | null;
  const ids = answer?.eventIds;
  const isComplete = answer?.accepted === operations && answer.rejected === 0;
  return isComplete && Array.isArray(ids) && ids.length === tracks && ids.every((id) => typeof id === "string")
    ? ids
    : null;
}

/** The service's description of an error. */
export interface Envelope {
  code: string;
  message: string | null;
  field: string | null;
  fix: string | null;
  requestId: string;
  diagnostics: readonly Diagnostic[];
}

/** Parses an error envelope. Null for a text that is not from the service, whose errors always have a code and a request id: gateways send a code, too. */
export function readEnvelope(text: string): Envelope | null {
  const error = (parsed(text) as { error?: Record<string, unknown> | null } | null)?.error;
  const read = (name: string): string | null => (typeof error?.[name] === "string" ? error[name] : null);
  const [code, requestId] = [read("code"), read("requestId")];
  if (code === null || requestId === null) return null;
  const listed: unknown[] = Array.isArray(error?.["diagnostics"]) ? error["diagnostics"] : [];
  const diagnostics = listed.filter(isDiagnostic);
  return {
    code,
    message: read("message"),
    field: read("field"),
    fix: read("fix"),
    requestId,
    diagnostics,
  };
}

function isDiagnostic(value: unknown): value is Diagnostic {
  const { code, message, path } = (value ?? {}) as Partial<Record<string, unknown>>;
  return [code, message, path].every((part) => typeof part === "string");
}

/** The error of each operation that the service names: all that violate the schema or have a conflicting idempotency key, otherwise the first wrong one. */
function refusedOperations(envelope: Envelope, status: number, operations: number): Map<number, ClientError> {
  const { field, diagnostics } = envelope;
  const own = new Map<number, Diagnostic[]>();
  for (const each of diagnostics) {
    const place = placeOf(each.path, operations);
    if (place === null) continue;
    const earlier = own.get(place.index) ?? [];
    own.set(place.index, [
      ...earlier,
      { ...each, path: place.within, message: withoutPlace(each.message, place.index) },
    ]);
  }
  const errors = new Map<number, ClientError>();
  const first = field === null ? null : placeOf(field, operations);
  if (first !== null) {
    const diagnostics = own.get(first.index) ?? [];
    const message = envelope.message === null ? null : withoutPlace(envelope.message, first.index);
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

/** A message without the operation's place in the batch, which the code that made the operation does not know. */
function withoutPlace(message: string, index: number): string {
  return message.replaceAll(`events[${index}].`, "");
}

/** Splits `events[3].properties.amount` into 3 and `properties.amount`; null for a path outside of the batch's operations. */
function placeOf(path: string, operations: number): { index: number; within: string } | null {
  const [, digits, within = ""] = /^events\[(\d+)\]\.?(.*)$/s.exec(path) ?? [];
  return digits === undefined || Number(digits) >= operations ? null : { index: Number(digits), within };
}

function errorOf({ code, message, ...details }: Envelope, status: number): ClientError {
  const where = details.field === null || details.field === "" ? "" : `${details.field}: `;
  return new ClientError(code, `${where}${message ?? code}`, { ...details, status });
}

function unexpected({ status, text, location }: Answer): { kind: "again"; error: ClientError; waitMs: null } {
  const isRedirect = status >= 300 && status < 400 && location !== null;
  const shown = isRedirect ? `it redirects to ${location}; if that is the service, correct url` : text.slice(0, 200);
  const message = `the answer is not from the service (${status}): ${shown}`;
  return { kind: "again", error: new ClientError("UNEXPECTED_ANSWER", message, { status }), waitMs: null };
}

/** Null for a text that is not JSON, such as a proxy's page or an empty answer. */
function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
