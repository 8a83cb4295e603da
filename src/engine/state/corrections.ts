import { lifecycleEmission, ownMember } from "../open-customer.js";
import { firstWhere } from "./history.js";
import type { CustomerState, Effect, EmissionSource, Json } from "./types.js";

const NO_SCORE = { band: null, overall: null };

/**
 * The emissions of a recompute for a customer: the differences between the final states before and after it. Changes in between
 * are history and are not emitted again.
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
    emit(lifecycleEmission(from, to), "lifecycle", { previous_lifecycle: from, new_lifecycle: to });
  }
  for (const journey of Object.keys(after.journeys).sort()) {
    const wasComplete = ownMember(before.journeys, journey)?.status === "complete";
    if (after.journeys[journey]!.status === "complete" && !wasComplete)
      emit("journey.completed", "journey", { journey });
  }
  for (const segment of union(before.segments, after.segments)) {
    const isIn = Object.hasOwn(after.segments, segment);
    if (isIn === Object.hasOwn(before.segments, segment)) continue;
    emit(isIn ? "segment.entered" : "segment.exited", "segment", { segment });
  }
  const { band: previous_band } = before.health ?? NO_SCORE;
  // Without a component with a known score there is no band any more.
  const { band: new_band, overall } = after.health ?? NO_SCORE;
  if (new_band !== previous_band) emit("health.changed", "health", { previous_band, new_band, overall });
  for (const signal of union(before.signals, after.signals)) {
    const was = ownMember(before.signals, signal);
    const is = ownMember(after.signals, signal);
    if ((was === undefined) === (is === undefined)) continue;
    const { severity, message } = (is ?? was)!;
    emit(is ? "signal.raised" : "signal.cleared", "signal", { signal, severity, message });
  }
  return effects;
}

/** A run of a journey from its start to its expiry, if it expired. */
export interface JourneySpan {
  journey: string;
  startedAt: number;
  expiredAt: number | null;
}

/**
 * The journey expirations found by a replay that were never emitted, at their due instants, one per run. A run's expiration counts as
 * emitted if one of its journey was emitted after the run's start and no later than the start of the next run: under another model the
 * same run may have expired sooner or later.
 *
 * @param spans all runs of the replay; those of one journey in order
 * @param emitted by journey: the instants of the expirations that were emitted before, ascending
 */
export function unemittedExpirations(
  spans: readonly JourneySpan[],
  emitted: ReadonlyMap<string, readonly number[]>,
  jobId: string,
): Effect[] {
  const effects: Effect[] = [];
  spans.forEach(({ journey, startedAt, expiredAt }, index) => {
    if (expiredAt === null) return;
    const next = spans[index + 1];
    const until = next?.journey === journey ? next.startedAt : Infinity;
    const instants = emitted.get(journey) ?? [];
    const first = instants[firstWhere(instants.length, (index) => instants[index]! > startedAt)];
    if (first !== undefined && first <= until) return;
    const cause = { kind: "job", jobId } as const;
    const metadata = { journey };
    effects.push({ kind: "emission", at: expiredAt, cause, type: "journey.expired", source: "journey", metadata });
  });
  return effects.sort((a, b) => a.at - b.at);
}

function union(a: object, b: object): string[] {
  return [...new Set([...Object.keys(a), ...Object.keys(b)])].sort();
}
