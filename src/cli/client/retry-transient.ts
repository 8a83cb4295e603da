import { setTimeout } from "node:timers/promises";

import { UserError } from "../core/errors.js";

/** What passes by itself: the service is not there for a moment, or has too much to do. */
const TRANSIENT = new Set([
  "SERVICE_UNREACHABLE",
  "SERVICE_UNAVAILABLE",
  "RATE_LIMIT_EXCEEDED",
  "UNEXPECTED_ANSWER",
  "INTERNAL_ERROR",
]);
/** How often something is tried that fails so: about a minute. */
export const TRIES = 30;
const PAUSE_MS_FIRST = 200;
const PAUSE_MS_MAX = 2_000;

/** Whether a failure may be over when the same is tried again. */
export function isTransient(error: unknown): boolean {
  return error instanceof UserError && TRANSIENT.has(error.code);
}

/** Reads again, for about a minute, while what fails may pass. */
export async function retryTransient<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await read();
    } catch (error) {
      if (!isTransient(error) || tries >= TRIES) throw error;
      await setTimeout(pauseAfter(tries));
    }
  }
}

/** How long to wait before the next look: longer and longer, two seconds at most. */
export function pauseAfter(looks: number): number {
  return Math.min(PAUSE_MS_FIRST * 1.3 ** looks, PAUSE_MS_MAX);
}
