import type { Snapshot, TrackingId } from "./snapshot/types.js";

/** The parts of a model that determine how calls of Segment's tracking API become operations. */
export interface TrackingModel {
  /** Which id identifies the customer: the first of these that a call has. */
  customer: readonly TrackingId[];
  /** Names in calls, and the events that they stand for. */
  events: Readonly<Record<string, string>>;
  /** The declared events with the names of their properties. */
  declared: Readonly<Record<string, readonly string[]>>;
  /** The names of the declared traits. */
  traits: readonly string[];
}

/** The tracking model of a snapshot. svc.tracking_model returns the same for a stored version. */
export function trackingModelOf({ tracking, events, traits }: Snapshot): TrackingModel {
  const declared = Object.entries(events).map(([name, { properties }]) => [name, Object.keys(properties)] as const);
  return {
    customer: tracking?.customer ?? ["userId"],
    events: tracking?.events ?? {},
    declared: Object.fromEntries(declared),
    traits: Object.keys(traits),
  };
}
