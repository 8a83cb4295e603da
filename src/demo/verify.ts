/** What must be true at the end of a run, whatever happened on the way. */
import type { Overview } from "./api.js";
import { DemoFailure } from "./failure.js";
import type { Input } from "./input/input.js";
import type { Tally } from "./receive/tally.js";

/** What the demo's webhook subscribes to: a pattern ends in a star. */
export const WEBHOOK_TYPES = ["customer.*", "segment.*"];

/** Throws a DemoFailure that lists everything that was lost, doubled or not genuine. */
export function verify(input: Input, overview: Overview, tally: Tally): void {
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
function subscribed({ emissions }: Overview): number {
  const wanted = Object.entries(emissions).filter(([type]) =>
    WEBHOOK_TYPES.some((pattern) => type.startsWith(pattern.slice(0, -1))),
  );
  return wanted.reduce((sum, [, count]) => sum + count, 0);
}
