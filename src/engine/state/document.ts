import type { Severity } from "../../model/snapshot/types.js";
import { causeId } from "../ids.js";
import type { CustomerState, Effect, HealthScore, JourneyRun, Json } from "./types.js";

/** A customer's state as the API shows it. Times are ISO 8601 in UTC with milliseconds. */
export interface StateDocument {
  customerId: string;
  environment: string;
  createdAt: string;
  lastEventAt: string | null;
  evaluatedThrough: string | null;
  configVersion: string | null;
  /** By name. */
  traits: Record<string, Json>;
  lifecycle: string | null;
  lifecycleEnteredAt: string | null;
  /** The segments that the customer is in, sorted. */
  segments: string[];
  health: HealthScore | null;
  /** The current or last run of each journey that ever started, by id. */
  journeys: JourneyProgress[];
  /** The signals that are raised, by id. */
  signals: { signalId: string; severity: Severity; message: string | null; raisedAt: string }[];
  nextDueAt: string | null;
}

export interface JourneyProgress {
  journeyId: string;
  status: JourneyRun["status"];
  currentStep: string;
  /** Completed steps, in the author's order. */
  stepsData: Record<string, { completedAt: string; triggeredBy: string }>;
  startedAt: string;
  completedAt: string | null;
  expiredAt: string | null;
}

export function stateDocument(
  state: CustomerState,
  { environment, configVersion }: { environment: string; configVersion: string | null },
): StateDocument {
  const { health, signals } = state;
  return {
    customerId: state.customerId,
    environment,
    createdAt: isoTime(state.createdAt),
    lastEventAt: isoTimeOrNull(state.lastEventAt),
    evaluatedThrough: isoTimeOrNull(state.evaluatedThrough),
    configVersion,
    traits: Object.fromEntries(idsOf(state.traits).map((name) => [name, state.traits[name]!])),
    lifecycle: state.lifecycle?.state ?? null,
    lifecycleEnteredAt: isoTimeOrNull(state.lifecycle?.enteredAt ?? null),
    segments: idsOf(state.segments),
    health: health && { overall: health.overall, components: health.components, band: health.band },
    journeys: idsOf(state.journeys).map((id) => journeyProgress(id, state.journeys[id]!)),
    signals: idsOf(signals).map((signalId) => {
      const { severity, message, raisedAt } = signals[signalId]!;
      return { signalId, severity, message, raisedAt: isoTime(raisedAt) };
    }),
    nextDueAt: isoTimeOrNull(state.nextDueAt),
  };
}

/** An emission as timelines show it. */
export function emissionDocument({ type, source, metadata, at, cause }: Extract<Effect, { kind: "emission" }>) {
  return {
    eventType: type,
    source,
    metadata,
    timestamp: isoTime(at),
    cause: { type: cause.kind, id: causeId(cause) },
  };
}

/** A run of a journey as the API shows it: without the fields that only the engine needs. */
export function journeyProgress(journeyId: string, run: JourneyRun): JourneyProgress {
  const steps = Object.entries(run.steps).map(([id, { completedAt, triggeredBy }]) => [
    id,
    { completedAt: isoTime(completedAt), triggeredBy },
  ]);
  return {
    journeyId,
    status: run.status,
    currentStep: run.currentStep,
    stepsData: Object.fromEntries(steps) as JourneyProgress["stepsData"],
    startedAt: isoTime(run.startedAt),
    completedAt: isoTimeOrNull(run.completedAt),
    expiredAt: isoTimeOrNull(run.expiredAt),
  };
}

function idsOf(parts: object): string[] {
  return Object.keys(parts).sort();
}

function isoTime(instant: number): string {
  return new Date(instant).toISOString();
}

export function isoTimeOrNull(instant: number | null): string | null {
  return instant === null ? null : isoTime(instant);
}
