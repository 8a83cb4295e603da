/** The service's rules for clients: what may pass is sent again, with backoff; nothing else is. */

/** Whether a response with this status is to be tried again. */
export function isTemporary(status: number): boolean {
  return status === 408 || status === 429 || status >= 500;
}

/** The waiting time that a `Retry-After` header asks for, in whole seconds or as an HTTP date; null without one that can be read. */
export function retryAfterMs(header: string | string[] | null | undefined, now: number): number | null {
  if (typeof header !== "string" || header.trim() === "") return null;
  const seconds = Number(header);
  if (Number.isFinite(seconds)) return Math.max(0, seconds * 1_000);
  const instant = Date.parse(header);
  return Number.isNaN(instant) ? null : Math.max(0, instant - now);
}

export interface Backoff {
  /** The most that the first pause takes; it doubles from try to try. */
  firstMs: number;
  /** The most that any takes. */
  longestMs: number;
}

/**
 * How long to wait after the try of that number, counted from 0. Anything up to the most that it may be (full jitter), so that senders that were refused
 * together do not come back together; where the service named a time, that one in full, and the jitter on top. `random` is from 0 up to 1.
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
