/** One connection to the ingestion API, by the service's rules for clients. */
import { Agent } from "undici";
import { readEnvelope } from "../src/client/answer.js";
import { isTemporary, retryAfterMs } from "../src/client/retry.js";
import { DEFAULT_POLICY, networkFailure, withRetries, type RetryAttempt } from "../src/demo/retry.js";
import { postOnce, type SendAnswer } from "../src/demo/send/sender.js";

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
  readonly #agent = new Agent({ connections: 1 });

  constructor(private readonly options: ClientOptions) {}

  /** Posts until there is an answer. Network errors, 429 and 5xx are repeated with the same body, and nothing else is. */
  async post(path: string, body: string): Promise<FinalAnswer> {
    const { signal, onRetry } = this.options;
    let attempts = 0;
    const attempt = (): Promise<RetryAttempt<FinalAnswer>> => this.#attempt(path, body, ++attempts);
    return withRetries(attempt, { ...DEFAULT_POLICY, signal, onRetry });
  }

  async #attempt(path: string, body: string, attempts: number): Promise<RetryAttempt<FinalAnswer>> {
    const { url, apiKey, signal } = this.options;
    const begunAt = performance.now();
    let answer: SendAnswer;
    try {
      answer = await postOnce(url + path, body, { apiKey, dispatcher: this.#agent, signal });
    } catch (error) {
      signal.throwIfAborted();
      return networkFailure(error);
    }
    const { status, text, headers } = answer;
    if (!isTemporary(status)) return { done: true, value: { status, text, attempts, begunAt } };
    return {
      done: false,
      again: `${status} ${String(readEnvelope(text)?.code)}`,
      retryAfterMs: retryAfterMs(headers["retry-after"], Date.now()),
    };
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}
