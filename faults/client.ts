/** One connection to the ingestion API, by the service's rules for clients. */
import { Agent, request } from "undici";
import { messageOf } from "../src/demo/failure.js";
import { DEFAULT_POLICY, isTemporary, retryAfterMs, withRetries, type Attempt } from "../src/demo/retry.js";

export interface ClientOptions {
  /** The service's address or that of a proxy before it, without a path. */
  url: string;
  apiKey: string;
  signal: AbortSignal;
  /** Told why an attempt is repeated, in a few words. */
  onRetry: (why: string) => void;
}

/** An answer that is not to be tried again. */
export interface Answer {
  status: number;
  text: string;
  /** 1 where the first attempt was answered. */
  attempts: number;
  /** When the attempt that was answered began, on the clock of performance.now(). */
  begunAt: number;
}

/** A request is safe to send again, so a silent connection is given up like a broken one. */
const ANSWER_WITHIN_MS = 60_000;

export class Client {
  readonly #agent = new Agent({ connections: 1 });

  constructor(private readonly options: ClientOptions) {}

  /** Posts until there is an answer. Network errors, 429 and 5xx are repeated with the same body, and nothing else is. */
  async post(path: string, body: string): Promise<Answer> {
    const { signal, onRetry } = this.options;
    let attempts = 0;
    const attempt = (): Promise<Attempt<Answer>> => this.#attempt(path, body, ++attempts);
    return withRetries(attempt, { ...DEFAULT_POLICY, signal, onRetry });
  }

  async #attempt(path: string, body: string, attempts: number): Promise<Attempt<Answer>> {
    const { url, apiKey, signal } = this.options;
    const begunAt = performance.now();
    try {
      const {
        statusCode,
        headers,
        body: answer,
      } = await request(url + path, {
        method: "POST",
        headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
        body,
        dispatcher: this.#agent,
        signal,
        headersTimeout: ANSWER_WITHIN_MS,
        bodyTimeout: ANSWER_WITHIN_MS,
      });
      const text = await answer.text();
      if (!isTemporary(statusCode)) return { done: true, value: { status: statusCode, text, attempts, begunAt } };
      return {
        done: false,
        again: `${statusCode} ${String(errorOf(text).code)}`,
        retryAfterMs: retryAfterMs(headers["retry-after"], Date.now()),
      };
    } catch (error) {
      signal.throwIfAborted();
      return { done: false, again: (error as { code?: string }).code ?? messageOf(error), retryAfterMs: null };
    }
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** The members of an error envelope; none where the text is none. */
export function errorOf(text: string): { code?: unknown; message?: unknown; field?: unknown } {
  try {
    return (JSON.parse(text) as { error?: object }).error ?? {};
  } catch {
    return {};
  }
}
