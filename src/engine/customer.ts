import type { Model } from "./model.js";
import { newStreamMemory } from "./streams.js";
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
    traitsDueAt: [],
    lifecycle: null,
    segments: {},
    memory: { model: null, awaitsEvaluation: false, streams: [] },
    timerDueAt: null,
    nextDueAt: null,
  };
}

/**
 * The customer with condition memory for another model, folded from the retained events that were evaluated before; what
 * was derived under the former model survives, and so does the instant at which the customer is due next.
 *
 * @param history the evaluated events that are retained, in any order; fastest in order of occurrence
 */
export function rebuildMemory(model: Model, state: CustomerState, history: Iterable<HistoryEvent>): CustomerState {
  const streams = model.streams.map(newStreamMemory);
  const awaitsEvaluation = state.firstEvaluatedAt !== null;
  const customer = new Working(model, { ...state, memory: { model: model.hash, awaitsEvaluation, streams } });
  for (const event of history) customer.record(event);
  return customer.toState(state.nextDueAt ?? Infinity);
}
