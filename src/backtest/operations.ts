import type { IdentifyOperation, Operation, TrackedEvent } from "../engine/index.js";

/** Events and identifies of one customer in the order of a sampler. An event counts as accepted when it occurred. */
export function operationsInOrder(
  events: readonly TrackedEvent[],
  identifies: readonly IdentifyOperation[],
): Operation[] {
  const operations: Operation[] = [
    ...events.map((event) => ({ ...event, kind: "track", acceptedAt: event.occurredAt }) as const),
    ...identifies,
  ];
  return operations.sort((a, b) => a.acceptedAt - b.acceptedAt || a.seq - b.seq);
}
