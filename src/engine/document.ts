import type { CustomerState, Json } from "./types.js";

/** A customer's state as all readers see it. Times are ISO 8601 in UTC with milliseconds. */
export interface StateDocument {
  customerId: string;
  environment: string;
  createdAt: string;
  lastEventAt: string | null;
  evaluatedThrough: string | null;
  configVersion: string | null;
  traits: Record<string, Json>;
  lifecycle: string | null;
  lifecycleEnteredAt: string | null;
  /** The segments that the customer is in, sorted. */
  segments: string[];
  health: null;
  journeys: [];
  signals: [];
  nextDueAt: string | null;
}

/** The state document of a customer. */
export function stateDocument(
  state: CustomerState,
  context: { environment: string; configVersion: string | null },
): StateDocument {
  return {
    customerId: state.customerId,
    environment: context.environment,
    createdAt: isoTime(state.createdAt),
    lastEventAt: isoTimeOrNull(state.lastEventAt),
    evaluatedThrough: isoTimeOrNull(state.evaluatedThrough),
    configVersion: context.configVersion,
    traits: state.traits,
    lifecycle: state.lifecycle?.state ?? null,
    lifecycleEnteredAt: isoTimeOrNull(state.lifecycle?.enteredAt ?? null),
    segments: Object.keys(state.segments).sort(),
    health: null,
    journeys: [],
    signals: [],
    nextDueAt: isoTimeOrNull(state.nextDueAt),
  };
}

function isoTime(instant: number): string {
  return new Date(instant).toISOString();
}

function isoTimeOrNull(instant: number | null): string | null {
  return instant === null ? null : isoTime(instant);
}
