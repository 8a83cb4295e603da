/** Waits until the service has nothing left to do. */
import { setTimeout as delay } from "node:timers/promises";
import type { Overview } from "../http/admin/answers.js";
import { DemoFailure } from "./failure.js";
import type { Input } from "./input.js";
import type { ReceiptTally } from "./receiver.js";

interface SettleOptions {
  overview: () => Promise<Overview>;
  onOverview?: (overview: Overview) => void;
  pollMs?: number;
  /** Gives up when no figure has changed for this long. */
  stallMs?: number;
  signal?: AbortSignal;
}

/**
 * Polls the overview until no event is pending, nothing is due and no delivery waits. As the input may be of any size, the only limit is on time
 * without any change, which is longer than the time that timers wait for a history to settle.
 */
export async function settle(options: SettleOptions): Promise<{ overview: Overview; evaluatedAt: number }> {
  const { overview, onOverview, pollMs = 250, stallMs = 180_000, signal } = options;
  /** When the last pending event was evaluated, by performance.now(). */
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
      const remaining = `${events.pending} events pending, ${customersDue} customers due, ${webhooks.pending} deliveries pending`;
      throw new DemoFailure(`nothing has changed for ${stallMs / 1_000} s: ${remaining}`);
    }
    await delay(pollMs, undefined, { signal });
  }
}

/** The patterns that the demo's webhook subscribes to; each ends in a star. */
export const WEBHOOK_TYPES = ["customer.*", "segment.*"];

/** Throws a DemoFailure that lists everything lost, duplicated or not genuine. */
export function verify(input: Input, overview: Overview, tally: ReceiptTally): void {
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

/** The number of emissions of the types that the webhook subscribes to. */
function subscribed({ emissions }: Overview): number {
  const wanted = Object.entries(emissions).filter(([type]) =>
    WEBHOOK_TYPES.some((pattern) => type.startsWith(pattern.slice(0, -1))),
  );
  return wanted.reduce((sum, [, count]) => sum + count, 0);
}
