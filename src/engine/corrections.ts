import { member } from "./records.js";
import type { CustomerState, Effect, EmissionSource, Json } from "./types.js";

/**
 * What a recompute has to tell of a customer: the differences between the final states before and after it. The states in
 * between are history, of which nobody is told again.
 *
 * @param at the instant that the recompute was pinned at
 */
export function corrections(
  before: CustomerState,
  after: CustomerState,
  { at, jobId }: { at: number; jobId: string },
): Effect[] {
  const effects: Effect[] = [];
  const emit = (type: string, source: EmissionSource, metadata: Record<string, Json>): void => {
    effects.push({ kind: "emission", at, cause: { kind: "job", jobId }, type, source, metadata });
  };
  const from = before.lifecycle?.state ?? null;
  const to = after.lifecycle?.state ?? null;
  if (to !== null && to !== from) {
    emit(`customer.${to}`, "lifecycle", { previous_lifecycle: from, new_lifecycle: to });
  }
  for (const [journey, { status }] of sorted(after.journeys)) {
    const wasComplete = member(before.journeys, journey)?.status === "complete";
    if (status === "complete" && !wasComplete) emit("journey.completed", "journey", { journey });
  }
  for (const segment of union(before.segments, after.segments)) {
    const isIn = Object.hasOwn(after.segments, segment);
    if (isIn === Object.hasOwn(before.segments, segment)) continue;
    emit(isIn ? "segment.entered" : "segment.exited", "segment", { segment });
  }
  const band = before.health?.band ?? null;
  if (after.health !== null && after.health.band !== band) {
    emit("health.changed", "health", {
      previous_band: band,
      new_band: after.health.band,
      overall: after.health.overall,
    });
  }
  for (const signal of union(before.signals, after.signals)) {
    const was = member(before.signals, signal);
    const is = member(after.signals, signal);
    if ((was === undefined) === (is === undefined)) continue;
    const { severity, message } = (is ?? was)!;
    emit(is ? "signal.raised" : "signal.cleared", "signal", { signal, severity, message });
  }
  return effects;
}

function sorted<T>(record: Record<string, T>): [string, T][] {
  return Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
}

function union(a: object, b: object): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
}
