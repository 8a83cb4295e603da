/** One connection to the ingestion API, by the service's rules for clients. */
import { setTimeout as delay } from "node:timers/promises";
import { type Answer, readEnvelope } from "../src/client/answer.js";
import { post, reasonOf } from "../src/client/post.js";
import { isTemporary, retryAfterMs } from "../src/client/retry.js";
import { DemoFailure } from "../src/demo/failure.js";

/** How long an answer may take. A request is safe to send again, so a silent connection is given up like a broken one. */
const ANSWER_WITHIN_MS = 60_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;
/** Long enough for a service that was killed to recover its database and come back. */
const GIVE_UP_AFTER_MS = 180_000;

export interface ClientOptions {
  /** The service's address or that of a proxy before it, without a path. */
  url: string;
  apiKey: string;
  signal: AbortSignal;
  /** Told why an attempt is repeated, in a few words. */
  onRetry: (why: string) => void;
}

/** An answer that is not to be tried again. */
export interface FinalAnswer {
  status: number;
  text: string;
  /** 1 where the first attempt was answered. */
  attempts: number;
  /** When the attempt that was answered began, on the clock of performance.now(). */
  begunAt: number;
}

export class Client {
  constructor(private readonly options: ClientOptions) {}

  /** Posts until there is an answer. Network errors, 429 and 5xx are repeated with the same body, and nothing else is. */
  async post(path: string, body: string): Promise<FinalAnswer> {
    const { signal, onRetry } = this.options;
    const deadline = performance.now() + GIVE_UP_AFTER_MS;
    for (let attempts = 1; ; attempts++) {
      signal.throwIfAborted();
      const begunAt = performance.now();
      const answer = await this.#attempt(path, body);
      if (typeof answer === "object" && !isTemporary(answer.status))
        return { status: answer.status, text: answer.text, attempts, begunAt };
      const why = typeof answer === "string" ? answer : `${answer.status} ${String(readEnvelope(answer.text)?.code)}`;
      const asked = typeof answer === "string" ? null : retryAfterMs(answer.retryAfter, Date.now());
      const wait = Math.max(asked ?? 0, Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempts - 1)));
      if (performance.now() + wait > deadline)
        throw new DemoFailure(`gave up after ${GIVE_UP_AFTER_MS / 1_000} s of trying: ${why}`);
      onRetry(why);
      await delay(wait, undefined, { signal });
    }
  }

  /** What was answered, or why nothing was. */
  async #attempt(path: string, body: string): Promise<Answer | string> {
    const { url, apiKey, signal } = this.options;
    try {
      return await post(url + path, body, { apiKey, timeoutMs: ANSWER_WITHIN_MS, signal });
    } catch (error) {
      signal.throwIfAborted();
      return reasonOf(error);
    }
  }
}
