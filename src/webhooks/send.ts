import { EventEmitter } from "node:events";
import { performance } from "node:perf_hooks";
import { request, type Dispatcher } from "undici";
import type { AttemptResult, ClaimedDelivery } from "../db/calls-deliveries.js";
import { describeError } from "./failure.js";
import { retryAfterSeconds } from "./retry-after.js";
import { SealedSecretError, type OpenSecret } from "./secret.js";
import { sign } from "./sign.js";
import { storable } from "./storable.js";

/** How much of an answer is kept. */
const RESPONSE_BYTES_KEPT = 1024;
/** How much of an answer is read so that its connection can be used again; a longer one costs the connection. */
const RESPONSE_BYTES_READ = 64 * 1024;

export interface SendOptions {
  agent: Dispatcher;
  /** Opens the sealed signing secrets. */
  openSecret: OpenSecret;
  /** Told where a webhook's own secret does not open, so that nothing could be signed. */
  onSealed?: (error: SealedSecretError) => void;
  userAgent: string;
  /** An answer's head must be there by then; reading its body ends then, too. */
  timeoutMs: number;
}

/** What came of one request. */
export type Outcome = Pick<AttemptResult, "latencyMs" | "statusCode" | "error" | "response" | "retryAfterSeconds">;

/** A message to one endpoint. */
export interface Message {
  url: string;
  /** The same at every attempt; receivers tell repetitions by it. */
  id: string;
  /** JSON, to be sent byte for byte. */
  body: string;
  sealedSecret: Uint8Array;
  /** Signs too, while a rotation is not over. */
  previousSealedSecret: Uint8Array | null;
}

/**
 * Makes one attempt, signed at this moment by the database's clock: receivers refuse what is minutes off, and the clock of a worker's
 * machine may be. Never rejects: whatever goes wrong is the result.
 */
export async function attemptDelivery(delivery: ClaimedDelivery, options: SendOptions): Promise<AttemptResult> {
  const { environmentId, webhookId, emissionSeq, attempt, eventId: id, url, body } = delivery;
  const { sealedSecret, previousSealedSecret } = delivery;
  const at = new Date(performance.now() + delivery.databaseAheadMs);
  const outcome = await sendMessage({ url, id, body, sealedSecret, previousSealedSecret }, at, options);
  return { environmentId, webhookId, emissionSeq, attempt, attemptedAt: at.toISOString(), ...outcome };
}

/** Posts a message, signed as of `at`. Never rejects: whatever goes wrong is the result. */
export async function sendMessage(message: Message, at: Date, options: SendOptions): Promise<Outcome> {
  const started = performance.now();
  const elapsedMs = () => Math.round(performance.now() - started);
  return post(message, at, options, elapsedMs).catch((error: unknown) => {
    if (error instanceof SealedSecretError) options.onSealed?.(error);
    return {
      latencyMs: elapsedMs(),
      statusCode: null,
      error: describeError(error),
      response: null,
      retryAfterSeconds: null,
    };
  });
}

async function post(message: Message, at: Date, options: SendOptions, elapsedMs: () => number): Promise<Outcome> {
  const { timeoutMs } = options;
  const headers = signedHeaders(message, at, options);
  const deadline = new Deadline(timeoutMs);
  try {
    const answer = await request(message.url, {
      method: "POST",
      headers,
      body: message.body,
      dispatcher: options.agent,
      signal: deadline,
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
    deadline.end();
  }
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

/** What undici takes for an AbortSignal, at a fraction of its cost. */
class Deadline extends EventEmitter {
  readonly #timer: NodeJS.Timeout;
  /** Why the request was broken off. */
  reason: Error | undefined;

  constructor(timeoutMs: number) {
    super();
    this.#timer = setTimeout(() => {
      this.reason = new Error(`no answer within ${timeoutMs / 1000} seconds`);
      this.emit("abort");
    }, timeoutMs);
  }

  end(): void {
    clearTimeout(this.#timer);
  }
}

/** The headers of a message that is sent at this instant. */
export function signedHeaders(
  { id, body, sealedSecret, previousSealedSecret }: Omit<Message, "url">,
  at: Date,
  { openSecret, userAgent }: Pick<SendOptions, "openSecret" | "userAgent">,
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
  if (kept.length === 0) return "";
  // A character that the limit cuts in two is left out.
  return storable(new TextDecoder().decode(Buffer.concat(kept), { stream: true }));
}
