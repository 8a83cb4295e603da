import type { Refusal } from "../../http/ingest/answers.js";

/** Error envelopes that several files expect, without `requestId` and `docs`. */

export const INVALID_API_KEY: Refusal = {
  code: "INVALID_API_KEY",
  message: "The API key is missing, malformed, unknown or revoked.",
  fix: "Send the header `Authorization: Bearer <API key>` with a key of this project that is not revoked.",
};

export const NOT_FOUND: Refusal = {
  code: "NOT_FOUND",
  message: "There is no such path.",
  fix: "Check the path: GET /openapi.json lists all. Events are sent to POST /v1/events and POST /v1/events/batch.",
};

export const UNKNOWN_SESSION: Refusal = {
  code: "INVALID_SESSION",
  message: "The access token is missing, unknown, expired or revoked.",
  fix: "Sign in again, or check SVC_ACCESS_TOKEN.",
};
export const NO_SESSION: Refusal = { ...UNKNOWN_SESSION, fix: "Send the header Authorization: Bearer <token>." };
export const UNKNOWN_ORGANIZATION: Refusal = {
  code: "ORGANIZATION_NOT_FOUND",
  message: "There is no such organization, or it is not one of yours.",
  fix: "Check the header X-Svc-Organization. The token's user must be a member; a headless token must belong to this organization.",
};
export const NO_ORGANIZATION: Refusal = {
  code: "ORGANIZATION_REQUIRED",
  message: "The header X-Svc-Organization is required.",
  fix: "Send the organization's ID in it.",
};

/** An invalid request. */
export const invalid = (refusal: Omit<Refusal, "code">): Refusal => ({ code: "VALIDATION_ERROR", ...refusal });

const wrong = (field: string, problem: string, fix: string, more: Partial<Refusal> = {}): Refusal =>
  invalid({ message: `\`${field}\` ${problem}.`, field, fix, ...more });

export const required = (field: string): Refusal => wrong(field, "is required", "Add the field.");

/** `type` includes its article. */
export const wrongType = (field: string, type: string, value: unknown): Refusal =>
  wrong(field, `must be ${type}`, `Send ${type}.`, { value });

export const empty = (field: string): Refusal =>
  wrong(field, "must not be empty", "Send a non-empty string.", { value: "" });

/** A text of 257 characters. */
export const tooLong = (field: string): Refusal =>
  wrong(field, "is too long", "Send a shorter value.", { reason: "It has 257 characters; at most 256 are allowed." });

/** A document one byte larger than 64 KiB. */
export const tooLarge = (field: string): Refusal =>
  wrong(field, "is too large", "Send less, or keep large content elsewhere and send a reference to it.", {
    reason:
      "It has 65537 bytes as compact JSON in UTF-8 with numbers written without exponents; at most 65536 are allowed.",
  });

const TIMESTAMP_FIX =
  "Send ISO 8601 with a timezone, for example 2026-03-02T10:00:00Z, or leave the field out for the time of ingestion.";
export const badTimestamp = (field: string, value: string, reason: string): Refusal =>
  wrong(field, "is not a valid timestamp", TIMESTAMP_FIX, { value, reason });

const TRACK_FIELDS = "type, customerId, event, properties, timestamp, idempotencyKey";
export const notOfTrack = (field: string): Refusal =>
  wrong(field, "is not a field of a track operation", `Remove it. Known fields: ${TRACK_FIELDS}.`);

export const notOfIdentify = (field: string): Refusal =>
  wrong(field, "is not a field of an identify operation", "Remove it. Known fields: type, customerId, traits.");

const SINGLE_FIX = 'Leave it out or send "track". Send identify operations to POST /v1/events/batch.';
export const wrongTypeOfSingle = (value: unknown): Refusal => wrong("type", 'must be "track"', SINGLE_FIX, { value });

export const wrongTypeOfOperation = (field: string, value: unknown): Refusal =>
  wrong(field, 'must be "track" or "identify"', 'Use "track" or "identify"; left out, it means "track".', { value });

export const batchSize = (operations: number): Refusal => ({
  code: "BATCH_SIZE_INVALID",
  message: "A batch has 1 to 1,000 operations.",
  field: "events",
  reason: `This one has ${operations}.`,
  fix: operations === 0 ? "Send at least one operation." : "Split it into several requests.",
});

export const conflict = (field: string, key: string): Refusal => ({
  code: "IDEMPOTENCY_CONFLICT",
  message: "The idempotency key was used before with another customer, event, properties or explicit timestamp.",
  field,
  value: key,
  fix: "Use a new key for another payload; repeat a request unchanged.",
});

export const rateLimited = (perSecond: number, operations: number, remaining: number): Refusal => ({
  code: "RATE_LIMIT_EXCEEDED",
  message: `The rate limit of this API key allows ${perSecond} operations per second.`,
  reason: `The request has ${operations} operation(s); ${remaining} can be accepted now.`,
  fix: "Send the same request again after the number of seconds in Retry-After.",
});

/** The one violation of a strict schema in a request. */
export const violation = (path: string, code: string, message: string, more: Partial<Refusal>): Refusal => {
  return { code, message, field: path, ...more, diagnostics: [{ code, message, path }] };
};

export const notMediaType: Refusal = {
  code: "UNSUPPORTED_MEDIA_TYPE",
  message: "The body must be JSON with the header Content-Type: application/json.",
  fix: "Send the header Content-Type: application/json, and the body in UTF-8.",
};

export const unavailable = (reason?: string): Refusal => ({
  code: "SERVICE_UNAVAILABLE",
  message: "The service is not available for the moment. Send the same request again.",
  ...(reason === undefined ? {} : { reason }),
  fix: "Send the same request again after the number of seconds in Retry-After.",
});

/** The answer of a probe with one failed check. */
export const unready = (name: string, message: string): Refusal => {
  return { ...unavailable(message), checks: [{ name, message }] };
};

export const notMethod = (allowed: string): Refusal => ({
  code: "METHOD_NOT_ALLOWED",
  message: "This path does not support this method.",
  fix: `Use ${allowed}.`,
});

export const malformed = (reason: string): Refusal => ({
  code: "MALFORMED_JSON",
  message: "The body is not valid JSON.",
  reason,
  fix: "Send one JSON document in UTF-8 as the body.",
});

export const PLAN_REQUIRED: Refusal = {
  code: "PLAN_REQUIRED",
  message: "The organization's plan does not include this service.",
  fix: "Ask the operator of this service for a plan that includes it; the data stays where it is.",
};

interface Quota extends Record<"limit" | "used" | "requested", number> {
  /** The current month. */
  month: string;
  /** The instant at which the next one begins. */
  next: string;
}
export const quotaExceeded = (quota: Quota): Refusal => ({
  code: "MONTHLY_QUOTA_EXCEEDED",
  message: `The plan allows ${quota.limit} events per calendar month.`,
  reason: `${quota.used} were used in ${quota.month}; the request has ${quota.requested} more.`,
  fix: `Wait until ${quota.next}, or ask the operator of this service for a larger plan.`,
});

/** The constant body of every failure of the service itself. */
export const SERVER_ERROR: Refusal = {
  code: "INTERNAL_ERROR",
  message: "The service failed on this request. Send it again, and report the request ID if it keeps failing.",
  fix: "Send the request again; report the request ID if it keeps failing.",
};
