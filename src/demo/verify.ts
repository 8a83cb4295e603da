/** What must be true at the end of a run, whatever happened on the way. */
import type { Overview } from "./api.js";
import { DemoFailure } from "./failure.js";
import type { Input } from "./input/input.js";
import type { Tally } from "./receive/tally.js";

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
  expect("deliveries made", overview.webhooks.delivered, overview.emissions);
  expect("emissions received", tally.events, overview.emissions);
  for (const [reason, count] of tally.invalid) problems.push(`${count} deliveries refused: ${reason}`);
  if (problems.length > 0) throw new DemoFailure(`the figures do not agree: ${problems.join("; ")}`);
}
