import type { Effect, Json, TrackOperation } from "../../../../src/engine/index.js";
import type { EmissionSource } from "../../../../src/engine/state/types.js";
import type { Snapshot } from "../../../../src/model/snapshot/types.js";
import type { Customer } from "./customer.js";
import { Reference } from "./reference.js";

/** What a replay begins with. Events are those retained, in any order. */
export interface Past {
  customerId: string;
  createdAt: number;
  /** When live evaluation of the customer began. */
  firstEvaluatedAt: number | null;
  traits: Record<string, Json>;
  traitsChangedAt: number | null;
  traitsChangedSeq: number;
  lastEventAt: number | null;
  events: readonly TrackOperation[];
  through: number;
}

/** The customer rebuilt from zero, beginning at the earlier of its creation and its first retained event. */
export function replayed(snapshot: Snapshot, past: Past): Reference {
  const reference = new Reference(past.customerId, snapshot);
  const { customer } = reference;
  const events = [...past.events].sort((a, b) => a.occurredAt - b.occurredAt || a.seq - b.seq);
  customer.traits = { ...past.traits };
  reference.traitsChangedAt = past.traitsChangedAt;
  reference.traitsChangedSeq = past.traitsChangedSeq;
  if (past.traitsChangedAt !== null) {
    reference.identifiesDue = [{ occurredAt: past.traitsChangedAt, seq: past.traitsChangedSeq }];
  }
  // What retention has removed still was activity.
  if (past.lastEventAt !== null && events.every(({ occurredAt }) => occurredAt < past.lastEventAt!)) {
    customer.lastEventAt = past.lastEventAt;
  }
  // What came first may have been an event that lies ahead, traits that have changed since, or an event that is not retained.
  const beganBefore = (past.firstEvaluatedAt ?? Infinity) < (events[0]?.occurredAt ?? Infinity);
  if (beganBefore && past.createdAt !== past.traitsChangedAt) customer.evaluate(past.createdAt, { kind: "timer" });
  for (const event of events) {
    reference.catchUp(event.occurredAt);
    customer.apply(event);
  }
  reference.catchUp(past.through);
  return reference;
}

/** What a recompute emits of the difference between two final states. */
export function corrected(before: Customer, after: Customer, at: number, jobId: string): Effect[] {
  const corrections: Effect[] = [];
  const emit = (source: EmissionSource, type: string, metadata: Record<string, Json>): void =>
    void corrections.push({ kind: "emission", at, cause: { kind: "job", jobId }, source, type, metadata });
  const from = before.lifecycle?.state ?? null;
  const to = after.lifecycle?.state ?? null;
  if (to !== null && from !== to) {
    emit("lifecycle", `customer.${to}`, { previous_lifecycle: from, new_lifecycle: to });
  }
  for (const [journey, { status }] of after.journeys) {
    const isNew = status === "complete" && before.journeys.get(journey)?.status !== "complete";
    if (isNew) emit("journey", "journey.completed", { journey });
  }
  for (const segment of new Set([...before.segments.keys(), ...after.segments.keys()])) {
    const isMember = after.segments.has(segment);
    if (isMember === before.segments.has(segment)) continue;
    emit("segment", isMember ? "segment.entered" : "segment.exited", { segment });
  }
  if (after.health !== null && before.health?.band !== after.health.band) {
    const { band, overall } = after.health;
    emit("health", "health.changed", { previous_band: before.health?.band ?? null, new_band: band, overall });
  }
  for (const signal of new Set([...before.signals.keys(), ...after.signals.keys()])) {
    const isRaised = after.signals.has(signal);
    if (isRaised === before.signals.has(signal)) continue;
    const { severity, message } = (after.signals.get(signal) ?? before.signals.get(signal))!;
    emit("signal", isRaised ? "signal.raised" : "signal.cleared", { signal, severity, message });
  }
  return corrections;
}
