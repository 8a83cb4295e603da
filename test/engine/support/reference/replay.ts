import type { Effect, Json } from "../../../../src/engine/index.js";
import type { EmissionSource } from "../../../../src/engine/state/types.js";
import type { Snapshot } from "../../../../src/model/snapshot/types.js";
import type { Customer } from "./customer.js";
import { Reference } from "./reference.js";

/** The customer rebuilt from zero through an instant, beginning at the earlier of its creation and its first event. */
export function replayed(snapshot: Snapshot, live: Reference, createdAt: number, through: number): Reference {
  const { traitsChangedAt, traitsChangedSeq, customer: before } = live;
  const reference = new Reference(before.customerId, snapshot);
  const { customer } = reference;
  const events = [...before.applied].sort((a, b) => a.occurredAt - b.occurredAt || a.seq - b.seq);
  customer.traits = { ...before.traits };
  Object.assign(reference, { traitsChangedAt, traitsChangedSeq });
  if (traitsChangedAt !== null) reference.identifiesDue = [{ occurredAt: traitsChangedAt, seq: traitsChangedSeq }];
  // Events removed by retention still count as activity.
  if (before.lastEventAt !== null && events.every(({ occurredAt }) => occurredAt < before.lastEventAt!)) {
    customer.lastEventAt = before.lastEventAt;
  }
  // The first operation may have been a future event, traits that have changed since, or an event no longer retained.
  const beganBefore = (before.firstEvaluatedAt ?? Infinity) < (events[0]?.occurredAt ?? Infinity);
  if (beganBefore && createdAt !== traitsChangedAt) customer.evaluate(createdAt, { kind: "timer" });
  for (const event of events) {
    reference.catchUp(event.occurredAt);
    customer.apply(event);
  }
  reference.catchUp(through);
  return reference;
}

/** The emissions of a recompute for the difference between two final states. */
export function corrected(before: Customer, after: Customer, at: number, jobId: string): Effect[] {
  const corrections: Effect[] = [];
  const emit = (source: EmissionSource, type: string, metadata: Record<string, Json>): void =>
    void corrections.push({ kind: "emission", at, cause: { kind: "job", jobId }, source, type, metadata });
  const from = before.lifecycle?.state ?? null;
  const to = after.lifecycle?.state ?? null;
  if (to !== null && from !== to) {
    emit("lifecycle", from === null ? "customer.created" : `customer.${to}`, {
      previous_lifecycle: from,
      new_lifecycle: to,
    });
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
  if (before.health?.band !== after.health?.band) {
    const { band, overall } = after.health ?? { band: null, overall: null };
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
