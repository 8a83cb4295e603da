/** When and after how long clients of the service retry a request: only after temporary failures, with backoff. */

/** Whether a request that was answered with this status is retried. */
export function isTemporary(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** The delay that a `Retry-After` header asks for, in whole seconds or as an HTTP date; null without a valid one. */
export function retryAfterMs(header: string | string[] | null | undefined, now: number): number | null {
  if (typeof header !== "string" || header.trim() === "") return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const instant = Date.parse(header);
  return Number.isNaN(instant) ? null : Math.max(0, instant - now);
}

export interface Backoff {
  /** The upper bound of the first pause; it doubles from try to try. */
  firstMs: number;
  /** The upper bound of any pause that the service does not ask for. */
  longestMs: number;
}

/**
 * The pause after a try. It is random up to its bound (full jitter), so that senders that failed together do not retry together. If the service named a time,
 * the pause is that time in full, plus jitter.
 * @param tries the number of the try, from 0 @param random from 0 up to 1
 */
export function pauseMs(
  tries: number,
  askedMs: number | null,
  { firstMs, longestMs }: Backoff,
  random: number,
): number {
  if (askedMs !== null && askedMs > 0) return askedMs + random * firstMs;
  return random * Math.min(longestMs, firstMs * 2 ** tries);
}
