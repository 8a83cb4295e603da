import type { Model } from "./model.js";
import type { CustomerState, HistoryEvent } from "./types.js";
import { Working } from "./working.js";

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
 * The customer with condition memory for another model, folded from the retained events that were evaluated before; what
 * was derived under the former model survives, and so does the instant at which the customer is due next.
 *
 * @param history the evaluated events that are retained, in order of occurrence and acceptance
 */
export function rebuildMemory(model: Model, state: CustomerState, history: Iterable<HistoryEvent>): CustomerState {
  const forgotten = { model: null, awaitsEvaluation: state.firstEvaluatedAt !== null, streams: [], aggregates: [] };
  // When a component of the former version's health would have changed says nothing about this version's.
  const customer = new Working(model, { ...state, healthChangesAt: null, memory: forgotten });
  for (const event of history) customer.record(event);
  return customer.toState(state.nextDueAt ?? Infinity);
}
