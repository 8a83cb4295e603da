/** The rules for clients: network errors and what `isTemporary` names are tried again with backoff, nothing else is. */
import { setTimeout as delay } from "node:timers/promises";
import { DemoFailure, messageOf } from "./failure.js";

export interface RetryPolicy {
  firstWaitMs: number;
  longestWaitMs: number;
  /** Gives up once this long has passed since the first attempt. */
  giveUpAfterMs: number;
}

/** Long enough for a service that was killed to recover its database and come back. */
export const DEFAULT_POLICY: RetryPolicy = { firstWaitMs: 100, longestWaitMs: 2_000, giveUpAfterMs: 180_000 };

/** How an attempt ended. `again` asks for another one, not before `retryAfterMs` where the service named a time. */
export type RetryAttempt<T> = { done: true; value: T } | { done: false; again: string; retryAfterMs: number | null };

export interface RetryOptions extends RetryPolicy {
  /** Ends the waiting; the promise is rejected with the signal's reason. */
  signal?: AbortSignal | undefined;
  onRetry?: ((why: string) => void) | undefined;
}

/**
 * Repeats `attempt` until it is done. A rejection of `attempt` is final: it must turn what may be tried again into a value. Waits
 * double from the first to the longest; `Retry-After` is waited for in full, and where it lies beyond the time limit, giving up
 * now says the same as giving up then.
 */
export async function withRetries<T>(attempt: () => Promise<RetryAttempt<T>>, options: RetryOptions): Promise<T> {
  const deadline = performance.now() + options.giveUpAfterMs;
  for (let backoff = options.firstWaitMs; ; backoff = Math.min(backoff * 2, options.longestWaitMs)) {
    options.signal?.throwIfAborted();
    const outcome = await attempt();
    if (outcome.done) return outcome.value;
    const wait = Math.max(outcome.retryAfterMs ?? 0, backoff);
    if (performance.now() + wait > deadline) {
      throw new DemoFailure(`gave up after ${Math.round(options.giveUpAfterMs / 1_000)} s of trying: ${outcome.again}`);
    }
    options.onRetry?.(outcome.again);
    await delay(wait, undefined, { signal: options.signal });
  }
}

/** A network error as an attempt that is worth another one. */
export function networkFailure(error: unknown): RetryAttempt<never> {
  return { done: false, again: messageOf(error), retryAfterMs: null };
}
