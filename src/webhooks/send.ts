import { createHmac } from "node:crypto";
import { performance } from "node:perf_hooks";
import type { Dispatcher } from "undici";
import type { AttemptResult, ClaimedDelivery, WebhookTarget } from "../db/api/webhooks.js";
import { USER_AGENT } from "./agent.js";
import { post } from "./post.js";
import { type OpenSecret, SealedSecretError, SECRET_PREFIX } from "./secret.js";

/**
 * Text that PostgreSQL accepts in JSON: U+FFFD replaces U+0000 and halves of surrogate pairs, which shortening a text can leave behind.
 */
function storable(text: string): string {
  // With the u flag, \p{Surrogate} matches only a surrogate that is not part of a pair.
  return text.replace(/[\0\p{Surrogate}]/gu, "\uFFFD");
}

const LENGTH_MAX = 1000;
const DEPTH_MAX = 4;

/**
 * Why a request failed, as text for the attempt log. Includes causes, and the error of each address that was tried, because the top-level message
 * of undici and Node.js often says nothing.
 */
export function describeError(error: unknown): string {
  const messages = new Set(messagesOf(error, 0).filter((message) => message !== ""));
  return storable(([...messages].join(": ") || "the request failed").slice(0, LENGTH_MAX));
}

function messagesOf(error: unknown, depth: number): string[] {
  if (!(error instanceof Error)) return [String(error)];
  const inner = error instanceof AggregateError ? error.errors : error.cause === undefined ? [] : [error.cause];
  const code = (error as NodeJS.ErrnoException).code ?? "";
  const own = error.message === "" ? (inner.length === 0 ? code : "") : (tlsReason(error, code) ?? error.message);
  return [own, ...(depth < DEPTH_MAX ? inner.flatMap((cause) => messagesOf(cause, depth + 1)) : [])];
}

/** Where OpenSSL reads something else than TLS, mostly HTTP, it takes the first bytes for a version. */
const NO_TLS = "WRONG_VERSION_NUMBER";

/** Why OpenSSL refused a connection, null for other errors. Its messages name a thread and lines of its source, and differ at each attempt. */
function tlsReason(error: Error & { reason?: string }, code: string): string | null {
  if (!code.startsWith("ERR_SSL_") || error.reason === undefined) return null;
  const what = code.endsWith(NO_TLS) ? "the receiver does not answer with TLS" : "the TLS connection failed";
  return `${what}: ${error.reason} (${code})`;
}

/**
 * The seconds that a `Retry-After` header asks for, as a whole number or an HTTP date, which is compared with `now` (ms since the epoch).
 * Null if there is none or it is not valid. The database limits the delay when it records the attempt.
 */
export function retryAfterSeconds(header: string | string[] | undefined, now: number): number | null {
  const value = (Array.isArray(header) ? header[0] : header)?.trim() ?? "";
  // Number(value) could be Infinity, which JSON cannot represent.
  if (/^\d+$/.test(value)) return Math.min(Number(value), Number.MAX_SAFE_INTEGER);
  // Date.parse accepts many texts; an HTTP date begins with the name of a day.
  const date = /^[A-Z][a-z]{2,8}, /.test(value) ? Date.parse(value) : NaN;
  return Number.isNaN(date) ? null : Math.max(0, Math.ceil((date - now) / 1000));
}

/** How long a receiver has to answer an attempt. */
export const ATTEMPT_TIMEOUT_MS = 15_000;

/** Whether a receiver accepted a message: any 2xx, as in the database. Null means that there was no answer. */
export function isAccepted(statusCode: number | null): boolean {
  return statusCode !== null && statusCode >= 200 && statusCode <= 299;
}

interface SignedMessage {
  /** `webhook-id`. Must not contain a dot, which separates the parts of the signed text. */
  id: string;
  /** `webhook-timestamp`: the instant of this sending, in whole seconds since 1970. */
  timestamp: number;
  /** The body exactly as it is sent. */
  body: string;
}

/**
 * The `webhook-signature` of Standard Webhooks 1.0: `v1,` and the base64 of HMAC-SHA256 over `<id>.<timestamp>.<body>`, once per
 * secret, separated by spaces. Receivers accept a message if any signature matches, which allows secrets to be rotated.
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
  /** Called if a webhook's current secret cannot be opened, so that nothing could be signed. */
  onSealed?: (error: SealedSecretError) => void;
  /** The time limit for the head of the answer. */
  timeoutMs: number;
}

/** A message to one endpoint. */
export interface WebhookMessage extends WebhookTarget {
  /** The same at every attempt, so that receivers can recognize repetitions. */
  id: string;
  /** JSON text, which is sent unchanged. */
  body: string;
}

/**
 * Makes one attempt, signed with the present time of the database's clock: receivers refuse timestamps that are minutes off, and the clock of a
 * worker's machine can be wrong. Never rejects: failures are part of the result.
 */
export async function attemptDelivery(delivery: ClaimedDelivery, options: DeliveryOptions): Promise<AttemptResult> {
  const { environmentId, webhookId, emissionSeq, attempt, eventId: id, url, body } = delivery;
  const { sealedSecret, previousSealedSecret } = delivery;
  const at = new Date(performance.now() + delivery.databaseAheadMs);
  const { outcome } = await sendMessage({ url, id, body, sealedSecret, previousSealedSecret }, at, options);
  return { environmentId, webhookId, emissionSeq, attempt, attemptedAt: at.toISOString(), ...outcome };
}

/**
 * Posts a message, signed as of `at`. Never rejects: failures are part of the outcome. Returns the headers of the request, which are empty if the
 * webhook's secret cannot be opened.
 */
export async function sendMessage(message: WebhookMessage, at: Date, options: DeliveryOptions) {
  const started = performance.now();
  const { agent, timeoutMs } = options;
  let headers: Record<string, string> = {};
  try {
    headers = signedHeaders(message, at, options);
    const answer = await post({ url: message.url, headers, body: message.body, agent, timeoutMs });
    const { latencyMs, statusCode } = answer;
    const retryAfter = retryAfterSeconds(answer.headers["retry-after"], at.getTime() + latencyMs);
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

/** The beginning of an answer as text. A character that is cut off at the end is left out. */
function textOf(body: Buffer): string {
  return body.length === 0 ? "" : storable(new TextDecoder().decode(body, { stream: true }));
}

/** A previous secret that cannot be opened, because SVC_SECRET has changed, is ignored; the current one replaces it. */
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
  { openSecret }: DeliveryOptions,
): Record<string, string> {
  const timestamp = Math.floor(at.getTime() / 1000);
  const secrets = [openSecret(sealedSecret), ...openedOrNone(previousSealedSecret, openSecret)];
  return {
    "content-type": "application/json",
    "user-agent": USER_AGENT,
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": sign({ id, timestamp, body }, secrets),
    "svc-event-id": id,
  };
}
