import type { StateDocument } from "../../../../src/engine/index.js";
import type { View } from "../subject.js";

/** The state document of a customer, written separately from its view. */
export function documentOf(view: View, customerId: string, createdAt: number): StateDocument {
  const iso = (instant: number): string => new Date(instant).toISOString();
  const isoOrNull = (instant: number | null): string | null => (instant === null ? null : iso(instant));
  const byId = <T>(record: Record<string, T>): [string, T][] =>
    Object.entries(record).sort(([a], [b]) => (a < b ? -1 : 1));
  return {
    customerId,
    environment: "test",
    createdAt: iso(createdAt),
    lastEventAt: isoOrNull(view.lastEventAt),
    evaluatedThrough: isoOrNull(view.evaluatedThrough),
    configVersion: null,
    traits: view.traits,
    lifecycle: view.lifecycle?.state ?? null,
    lifecycleEnteredAt: isoOrNull(view.lifecycle?.enteredAt ?? null),
    segments: Object.keys(view.segments).sort(),
    health: view.health,
    journeys: byId(view.journeys).map(([journeyId, run]) => ({
      journeyId,
      status: run.status,
      currentStep: run.currentStep,
      stepsData: Object.fromEntries(
        Object.entries(run.steps).map(([step, { completedAt, triggeredBy }]) => [
          step,
          { completedAt: iso(completedAt), triggeredBy },
        ]),
      ),
      startedAt: iso(run.startedAt),
      completedAt: isoOrNull(run.completedAt),
      expiredAt: isoOrNull(run.expiredAt),
    })),
    signals: byId(view.signals).map(([signalId, { severity, message, raisedAt }]) => ({
      signalId,
      severity,
      message,
      raisedAt: iso(raisedAt),
    })),
    nextDueAt: isoOrNull(view.nextDueAt),
  };
}
