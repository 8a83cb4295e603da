/** Waits until the service has nothing left to do. */
import { setTimeout as delay } from "node:timers/promises";
import type { Overview } from "./api.js";
import { DemoFailure } from "./failure.js";

export interface SettleOptions {
  overview: () => Promise<Overview>;
  onOverview?: (overview: Overview) => void;
  pollMs?: number;
  /** Gives up when no figure has changed for this long. */
  stallMs?: number;
  /** Ends the waiting; the promise is rejected. */
  signal?: AbortSignal;
}

export interface Settled {
  overview: Overview;
  /** When no event was pending any more, on the clock of performance.now(). */
  evaluatedAt: number;
}

/**
 * Polls the overview until no event is pending, nothing is due and no delivery waits. There is no limit in all, because nobody
 * knows how large the input is; there is one for standing still. It is longer than the time that timers wait for the end of a
 * history.
 */
export async function settle(options: SettleOptions): Promise<Settled> {
  const { overview, onOverview, pollMs = 250, stallMs = 180_000, signal } = options;
  let evaluatedAt: number | null = null;
  let moved = { figures: "", at: performance.now() };
  for (;;) {
    const current = await overview();
    onOverview?.(current);
    const now = performance.now();
    const { events, customersDue, webhooks } = current;
    if (events.pending === 0) evaluatedAt ??= now;
    if (evaluatedAt !== null && events.pending === 0 && customersDue === 0 && webhooks.pending === 0)
      return { overview: current, evaluatedAt };
    const figures = JSON.stringify(current);
    if (figures !== moved.figures) moved = { figures, at: now };
    if (now - moved.at > stallMs) throw new DemoFailure(stalled(current, stallMs));
    await delay(pollMs, undefined, { signal });
  }
}

function stalled({ events, customersDue, webhooks }: Overview, stallMs: number): string {
  const left = `${events.pending} events pending, ${customersDue} customers due, ${webhooks.pending} deliveries pending`;
  return `nothing has moved for ${stallMs / 1_000} s: ${left}`;
}
