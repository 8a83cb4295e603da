import { parseDuration } from "../model/snapshot/duration.js";
import type { OccurrenceScope, Since, Snapshot } from "../model/snapshot/types.js";
import type { BoundaryOf, Reads } from "./evaluation-context.js";
import type { AggregateRegistry } from "./model/registry.js";
import { NOTHING_COUNTS, stateBoundary } from "./state/boundary.js";

export const LIFECYCLE_ITEM = "lifecycle";
export const HEALTH_ITEM = "health";
export const segmentItem = (id: string): string => `segment ${id}`;
export const journeyItem = (id: string): string => `journey ${id}`;
export const signalItem = (id: string): string => `signal ${id}`;
export const ruleItem = (id: string): string => `rule ${id}`;

/** The model that conditions are compiled for. */
export interface ModelContext {
  snapshot: Snapshot;
  registry: AggregateRegistry;
  /** Positions by id. */
  segmentIndex: ReadonlyMap<string, number>;
  journeyIndex: ReadonlyMap<string, number>;
}

/** Where one condition is compiled: what it reads is added to `reads`. */
export interface ConditionContext extends ModelContext {
  reads: Reads;
  /** The condition or measure itself. */
  source: object;
  /** From when on what says nothing itself counts: in a step of a journey. */
  boundary: BoundaryOf | undefined;
}

/** A compiled scope. */
export interface CompiledScope {
  /** The length of the half-open window (t - within, t] in milliseconds; Infinity without one. */
  within: number;
  boundary: BoundaryOf | undefined;
}

export function compileScope({ within, since }: OccurrenceScope, context: ConditionContext): CompiledScope {
  return {
    within: within === undefined ? Infinity : parseDuration(within),
    boundary: since === undefined ? context.boundary : compileSince(since, context),
  };
}

export function compileSince(since: Since, { reads, registry, journeyIndex }: ConditionContext): BoundaryOf {
  if (since === "state") {
    reads.items.add(LIFECYCLE_ITEM);
    return stateBoundary;
  }
  reads.items.add(journeyItem(since.journey));
  const index = journeyIndex.get(since.journey);
  return index === undefined ? () => NOTHING_COUNTS : registry.journeyStart(index);
}
