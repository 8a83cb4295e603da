import { createHmac } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Dispatcher } from "undici";
import type { AttemptResult, ClaimedDelivery, WebhookTarget } from "../db/api/webhooks.js";
import { post } from "./post.js";
import { type OpenSecret, SealedSecretError, SECRET_PREFIX } from "./secret.js";

/**
 * A text as PostgreSQL takes it in JSON: without U+0000, and without halves of surrogate pairs, which a cut leaves behind. What is
 * left out is marked by U+FFFD.
 */
function storable(text: string): string {
  // With the u flag, a surrogate is only one that is no part of a pair.
  return text.replace(/[\0\p{Surrogate}]/gu, "\uFFFD");
}

const LENGTH_MAX = 1000;
const DEPTH_MAX = 4;

/**
 * Why a request failed, for the attempt log, as the database takes it. Follows causes, and the errors of each address that was tried: undici's and
 * Node.js' own top message often says nothing.
 */
export function describeError(error: unknown): string {
  const messages = new Set(messagesOf(error, 0).filter((message) => message !== ""));
  return storable(([...messages].join(": ") || "the request failed").slice(0, LENGTH_MAX));
}

function messagesOf(error: unknown, depth: number): string[] {
  if (!(error instanceof Error)) return [String(error)];
  const inner = error instanceof AggregateError ? error.errors : error.cause === undefined ? [] : [error.cause];
  const code = (error as NodeJS.ErrnoException).code ?? "";
  const own = error.message === "" ? (inner.length === 0 ? code : "") : error.message;
  return [own, ...(depth < DEPTH_MAX ? inner.flatMap((cause) => messagesOf(cause, depth + 1)) : [])];
}

/**
 * The seconds a `Retry-After` header asks for: a whole number or an HTTP date, which is compared with `now` (milliseconds).
 * Null where there is none that can be read. How long it may put off an attempt is decided where attempts are recorded.
 */
export function retryAfterSeconds(header: string | string[] | undefined, now: number): number | null {
  const value = (Array.isArray(header) ? header[0] : header)?.trim() ?? "";
  // JSON has no number for what is beyond all of them.
  if (/^\d+$/.test(value)) return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
  // Date.parse takes much for a date; an HTTP date begins with the name of a day.
  const date = /^[A-Z][a-z]{2,8}, /.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - now) / 1000));
}

/** How long a receiver has to answer an attempt. */
export const ATTEMPT_TIMEOUT_MS = 15_000;

/** Whether a receiver took a message: any 2xx, as where attempts are recorded. Null stands for no answer. */
export function isAccepted(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode <= 299;
}

interface SignedMessage {
  /** `webhook-id`. Must not contain a dot, which separates the parts of what is signed. */
  id: string;
  /** `webhook-timestamp`: the instant of this sending, in whole seconds since 1970. */
  timestamp: number;
  /** The body, byte for byte as it is sent. */
  body: string;
}

/**
 * The `webhook-signature` of Standard Webhooks 1.0: `v1,` and the base64 of HMAC-SHA256 over `<id>.<timestamp>.<body>`, once per
 * secret, separated by spaces. Receivers accept a message if any signature fits, which is how secrets are rotated.
 *
 * @param secrets each `whsec_` and base64.
 */
export function sign(message: SignedMessage, secrets: readonly string[]): string {
  const signed = `${message.id}.${message.timestamp}.${message.body}`;
  return secrets
    .map((secret) => `v1,${createHmac("sha256", secretBytes(secret)).update(signed).digest("base64")}`)
    .join(" ");
}

function secretBytes(secret: string): Buffer {
  return Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, "base64");
}

export interface DeliveryOptions {
  agent: Dispatcher;
  /** Opens the sealed signing secrets. */
  openSecret: OpenSecret;
  /** Told where a webhook's own secret does not open, so that nothing could be signed. */
  onSealed?: (error: SealedSecretError) => void;
  userAgent: string;
  /** An answer's head must be there by then; reading its body ends then, too. */
  timeoutMs: number;
}

/** A message to one endpoint. */
export interface WebhookMessage extends WebhookTarget {
  /** The same at every attempt; receivers tell repetitions by it. */
  id: string;
  /** JSON, to be sent byte for byte. */
  body: string;
}

/**
 * Makes one attempt, signed at this moment by the database's clock: receivers refuse what is minutes off, and the clock of a worker's
 * machine may be. Never rejects: whatever goes wrong is the result.
 */
export async function attemptDelivery(delivery: ClaimedDelivery, options: DeliveryOptions): Promise<AttemptResult> {
  const { environmentId, webhookId, emissionSeq, attempt, eventId: id, url, body } = delivery;
  const { sealedSecret, previousSealedSecret } = delivery;
  const at = new Date(performance.now() + delivery.databaseAheadMs);
  const { outcome } = await sendMessage({ url, id, body, sealedSecret, previousSealedSecret }, at, options);
  return { environmentId, webhookId, emissionSeq, attempt, attemptedAt: at.toISOString(), ...outcome };
}

/**
 * Posts a message, signed as of `at`. Never rejects: whatever goes wrong is the outcome. The headers are those of the request, none where
 * the webhook's secret does not open.
 */
export async function sendMessage(message: WebhookMessage, at: Date, options: DeliveryOptions) {
  const started = performance.now();
  const { agent, timeoutMs } = options;
  let headers: Record<string, string> = {};
  try {
    headers = signedHeaders(message, at, options);
    const answer = await post({ url: message.url, headers, body: message.body, agent, timeoutMs });
    const { latencyMs, statusCode } = answer;
    const retryAfter = retryAfterSeconds(answer.headers["retry-after"], Date.now());
    const response = textOf(answer.body);
    const outcome = { latencyMs, statusCode, error: null, response, retryAfterSeconds: retryAfter };
    return { headers, outcome };
  } catch (thrown) {
    if (thrown instanceof SealedSecretError) options.onSealed?.(thrown);
    const latencyMs = Math.round(performance.now() - started);
    const error = describeError(thrown);
    const outcome = { latencyMs, statusCode: null, error, response: null, retryAfterSeconds: null };
    return { headers, outcome };
  }
}

/** The beginning of an answer as text. A character that its end cuts in two is left out. */
function textOf(body: Buffer): string {
  return body.length === 0 ? "" : storable(new TextDecoder().decode(body, { stream: true }));
}

/** A secret from before SVC_SECRET changed does not open; the current one was made to replace it. */
function openedOrNone(sealed: Uint8Array | null, openSecret: OpenSecret): string[] {
  if (sealed === null) return [];
  try {
    return [openSecret(sealed)];
  } catch (error) {
    if (error instanceof SealedSecretError) return [];
    throw error;
  }
}

/** The headers of a message that is sent at this instant. */
function signedHeaders(
  { id, body, sealedSecret, previousSealedSecret }: WebhookMessage,
  at: Date,
  { openSecret, userAgent }: DeliveryOptions,
): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000);
  const secrets = [openSecret(sealedSecret), ...openedOrNone(previousSealedSecret, openSecret)];
  return {
    "content-type": "application/json",
    "user-agent": userAgent,
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": sign({ id, timestamp, body }, secrets),
    "svc-event-id": id,
  };
}
