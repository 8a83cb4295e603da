import { type Model, OpenCustomer } from "../open-customer.js";
import type { CustomerState, HistoryEvent } from "./types.js";

/** A customer of whom nothing is known yet. */
export function newCustomer(customerId: string, createdAt: number): CustomerState {
  return {
    customerId,
    createdAt,
    firstEvaluatedAt: null,
    evaluatedThrough: null,
    lastEventAt: null,
    lastTrack: null,
    traits: {},
    traitsChangedAt: null,
    traitsDueAt: [],
    lifecycle: null,
    journeys: {},
    segments: {},
    health: null,
    healthChangesAt: null,
    rules: {},
    signals: {},
    memory: { model: null, awaitsEvaluation: false, streams: [], aggregates: [] },
    timerDueAt: null,
    nextDueAt: null,
  };
}

/**
 * Gives a customer condition memory for another model, folded from the retained events that were evaluated before. What was derived under the
 * former model survives, and so does the instant at which the customer is due next.
 */
export class MemoryRebuild {
  readonly #customer: OpenCustomer;
  readonly #nextDueAt: number;

  constructor(model: Model, state: CustomerState) {
    const { movesByTime: _, ...kept } = state;
    const forgotten = { model: null, awaitsEvaluation: state.firstEvaluatedAt !== null, streams: [], aggregates: [] };
    // When a component of the former health would have changed says nothing about this version's, nor how often time has moved the customer.
    this.#customer = new OpenCustomer(model, { ...kept, healthChangesAt: null, memory: forgotten });
    this.#nextDueAt = state.nextDueAt ?? Infinity;
  }

  /** Takes the next of the evaluated events that are retained, in order of occurrence and acceptance. */
  add(event: HistoryEvent): void {
    this.#customer.record(event);
  }

  end(): CustomerState {
    return this.#customer.toState(this.#nextDueAt);
  }
}
