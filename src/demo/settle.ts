/** Waits until the service has nothing left to do. */
import { setTimeout as delay } from "node:timers/promises";
import type { ProjectOverview } from "./api.js";
import { DemoFailure } from "./failure.js";
import type { Input } from "./input.js";
import type { ReceiptTally } from "./receiver.js";

interface SettleOptions {
  overview: () => Promise<ProjectOverview>;
  onOverview?: (overview: ProjectOverview) => void;
  pollMs?: number;
  /** Gives up when no figure has changed for this long. */
  stallMs?: number;
  signal?: AbortSignal;
}

/**
 * Polls the overview until no event is pending, nothing is due and no delivery waits. Nobody knows how large the input is, so there is no limit but for
 * standing still, which is longer than the time that timers wait for the end of a history.
 */
export async function settle(options: SettleOptions): Promise<{ overview: ProjectOverview; evaluatedAt: number }> {
  const { overview, onOverview, pollMs = 250, stallMs = 180_000, signal } = options;
  /** When no event was pending any more, on the clock of performance.now(). */
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
    if (now - moved.at > stallMs) {
      const left = `${events.pending} events pending, ${customersDue} customers due, ${webhooks.pending} deliveries pending`;
      throw new DemoFailure(`nothing has moved for ${stallMs / 1_000} s: ${left}`);
    }
    await delay(pollMs, undefined, { signal });
  }
}

/** What the demo's webhook subscribes to: a pattern ends in a star. */
export const WEBHOOK_TYPES = ["customer.*", "segment.*"];

/** Throws a DemoFailure that lists everything that was lost, doubled or not genuine. */
export function verify(input: Input, overview: ProjectOverview, tally: ReceiptTally): void {
  const problems: string[] = [];
  const expect = (what: string, actual: number, expected: number) => {
    if (actual !== expected) problems.push(`${what}: ${actual} instead of ${expected}`);
  };
  expect("events accepted", overview.events.accepted, input.distinctEvents);
  expect("events pending", overview.events.pending, 0);
  expect("customers", overview.customers, input.customers);
  expect("deliveries failed", overview.webhooks.failed, 0);
  const emissions = subscribed(overview);
  expect("deliveries made", overview.webhooks.delivered, emissions);
  expect("emissions received", tally.events, emissions);
  for (const [reason, count] of tally.invalid) problems.push(`${count} deliveries refused: ${reason}`);
  if (problems.length > 0) throw new DemoFailure(`the figures do not agree: ${problems.join("; ")}`);
}

/** How many emissions there are of the types that the webhook subscribes to. */
function subscribed({ emissions }: ProjectOverview): number {
  const wanted = Object.entries(emissions).filter(([type]) =>
    WEBHOOK_TYPES.some((pattern) => type.startsWith(pattern.slice(0, -1))),
  );
  return wanted.reduce((sum, [, count]) => sum + count, 0);
}
