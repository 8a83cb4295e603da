import type { CustomerState, Effect, Json, Operation } from "../../../src/engine/index.js";
import type { HealthScore, JourneyRun, RaisedSignal } from "../../../src/engine/state/types.js";
import type { Snapshot } from "../../../src/model/snapshot/types.js";

/** The derived state of a customer, from the engine or the reference. Instants are milliseconds. */
export interface View {
  evaluatedThrough: number | null;
  lastEventAt: number | null;
  nextDueAt: number | null;
  traits: Record<string, Json>;
  lifecycle: CustomerState["lifecycle"];
  journeys: Record<string, JourneyRun>;
  segments: Record<string, number>;
  health: HealthScore | null;
  signals: Record<string, RaisedSignal>;
}

export interface Replayed {
  view: View;
  effects: readonly Effect[];
  corrections: readonly Effect[];
}

/** One customer under the engine or under the reference. */
export interface Subject {
  readonly effects: readonly Effect[];
  /** Takes operations accepted at one instant, and fires what is due up to `now` unless timers are held. */
  take(operations: readonly Operation[], now: number, timers: "fire" | "hold"): void;
  changeVersion(snapshot: Snapshot): void;
  view(): View;
  /** Replays from zero through an instant under the current version; changes nothing. */
  replay(through: number, jobId: string): Replayed;
}

export type NewSubject = (snapshot: Snapshot, customerId: string, createdAt: number) => Subject;
