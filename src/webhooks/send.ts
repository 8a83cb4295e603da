import { performance } from "node:perf_hooks";
import { request, type Dispatcher } from "undici";
import type { AttemptResult, ClaimedDelivery } from "../db/calls-deliveries.js";
import { describeError } from "./failure.js";
import { retryAfterSeconds } from "./retry-after.js";
import { openSecret } from "./secret.js";
import { sign } from "./sign.js";

/** How much of an answer is kept. */
const RESPONSE_BYTES_KEPT = 1024;
/** How much of an answer is read so that its connection can be used again; a longer one costs the connection. */
const RESPONSE_BYTES_READ = 64 * 1024;

export interface SendOptions {
  agent: Dispatcher;
  /** Opens the sealed signing secrets. */
  key: Buffer;
  userAgent: string;
  /** An answer's head must be there by then; reading its body ends then, too. */
  timeoutMs: number;
}

type Outcome = Pick<AttemptResult, "latencyMs" | "statusCode" | "error" | "response" | "retryAfterSeconds">;

/** Makes one attempt, signed at this moment. Never rejects: whatever goes wrong is the result. */
export async function attemptDelivery(delivery: ClaimedDelivery, options: SendOptions): Promise<AttemptResult> {
  const { environmentId, webhookId, emissionSeq, attempt } = delivery;
  const at = new Date();
  const started = performance.now();
  const elapsedMs = () => Math.round(performance.now() - started);
  const outcome = await post(delivery, at, options, elapsedMs).catch((error: unknown) => ({
    latencyMs: elapsedMs(),
    statusCode: null,
    error: storable(describeError(error)),
    response: null,
    retryAfterSeconds: null,
  }));
  return { environmentId, webhookId, emissionSeq, attempt, attemptedAt: at.toISOString(), ...outcome };
}

async function post(
  delivery: ClaimedDelivery,
  at: Date,
  options: SendOptions,
  elapsedMs: () => number,
): Promise<Outcome> {
  const { timeoutMs } = options;
  const headers = signedHeaders(delivery, at, options);
  const deadline = new AbortController();
  const late = new Error(`no answer within ${timeoutMs / 1000} seconds`);
  const timer = setTimeout(() => deadline.abort(late), timeoutMs);
  try {
    const answer = await request(delivery.url, {
      method: "POST",
      headers,
      body: delivery.body,
      dispatcher: options.agent,
      signal: deadline.signal,
      // The deadline above is the only one: undici's own count parts of an exchange.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    return {
      latencyMs: elapsedMs(),
      statusCode: answer.statusCode,
      error: null,
      response: await firstKibibyte(answer.body),
      retryAfterSeconds: retryAfterSeconds(answer.headers["retry-after"], Date.now()),
    };
  } finally {
    clearTimeout(timer);
  }
}

function signedHeaders(delivery: ClaimedDelivery, at: Date, options: SendOptions): Record<string, string> {
  const { eventId: id, body } = delivery;
  const timestamp = Math.floor(at.getTime() / 1000);
  return {
    "content-type": "application/json",
    "user-agent": options.userAgent,
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": sign({ id, timestamp, body }, [openSecret(delivery.sealedSecret, options.key)]),
    "svc-event-id": id,
  };
}

/**
 * The first KiB of an answer as text. The status has settled how the attempt ended, so a body that breaks off or outlasts the
 * deadline is kept as far as it came.
 */
async function firstKibibyte(body: Dispatcher.ResponseData["body"]): Promise<string> {
  const kept: Buffer[] = [];
  let read = 0;
  // What the loop below has left may still fail; nobody else listens.
  body.on("error", () => undefined);
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      if (read < RESPONSE_BYTES_KEPT) kept.push(chunk.subarray(0, RESPONSE_BYTES_KEPT - read));
      read += chunk.length;
      if (read > RESPONSE_BYTES_READ) break;
    }
  } catch {
    // See above: what came is the answer.
  }
  // A character that the limit cuts in two is left out.
  return storable(new TextDecoder().decode(Buffer.concat(kept), { stream: true }));
}

/** PostgreSQL's texts hold every character but U+0000. */
function storable(text: string): string {
  return text.replaceAll("\u0000", "\uFFFD");
}
