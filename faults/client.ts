/** A connection to the ingestion API that follows the service's rules for clients. */
import { setTimeout as delay } from "node:timers/promises";
import { type Answer, readEnvelope } from "../src/client/answer.js";
import { post, reasonOf } from "../src/client/post.js";
import { isTemporary, retryAfterMs } from "../src/client/backoff.js";
import { DemoFailure } from "../src/demo/failure.js";

/** Time limit for an answer. A request is safe to repeat, so a silent connection is given up like a broken one. */
const ANSWER_WITHIN_MS = 60_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 2_000;
/** Long enough for a killed service to recover its database and restart. */
const GIVE_UP_AFTER_MS = 180_000;

export interface ClientOptions {
  /** The address of the service or of a proxy in front of it, without a path. */
  url: string;
  apiKey: string;
  signal: AbortSignal;
  /** Called with the reason when an attempt is repeated. */
  onRetry: (why: string) => void;
}

/** An answer after which the request is not repeated. */
export interface FinalAnswer {
  status: number;
  text: string;
  /** 1 if the first attempt was answered. */
  attempts: number;
  /** When the answered attempt began, by performance.now(). */
  begunAt: number;
}

export class Client {
  constructor(private readonly options: ClientOptions) {}

  /** Posts until there is an answer. Repeats only after network errors, 429 and 5xx, with the same body. */
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
      const retryAfter = typeof answer === "string" ? null : retryAfterMs(answer.retryAfter, Date.now());
      const wait = Math.max(retryAfter ?? 0, Math.min(LONGEST_WAIT_MS, FIRST_WAIT_MS * 2 ** (attempts - 1)));
      if (performance.now() + wait > deadline)
        throw new DemoFailure(`gave up after ${GIVE_UP_AFTER_MS / 1_000} s of trying: ${why}`);
      onRetry(why);
      await delay(wait, undefined, { signal });
    }
  }

  /** Returns the answer, or the reason why there was none. */
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
