import { type Model, OpenCustomer } from "../open-customer.js";
import type { CustomerState, HistoryEvent } from "./types.js";

/** The state of a new customer. */
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
 * Rebuilds a customer's condition memory for another model, from the retained events that were evaluated before. Everything derived under
 * the former model is kept, and so is the instant at which the customer is due next.
 */
export class MemoryRebuild {
  readonly #customer: OpenCustomer;
  readonly #nextDueAt: number;

  constructor(model: Model, state: CustomerState) {
    const { movesByTime: _, ...kept } = state;
    const forgotten = { model: null, awaitsEvaluation: state.firstEvaluatedAt !== null, streams: [], aggregates: [] };
    // `healthChangesAt` and `movesByTime` are dropped: those of the former version say nothing about this one.
    this.#customer = new OpenCustomer(model, { ...kept, healthChangesAt: null, memory: forgotten });
    this.#nextDueAt = state.nextDueAt ?? Infinity;
  }

  /** Adds the next retained event, in order of occurrence and acceptance. */
  add(event: HistoryEvent): void {
    this.#customer.record(event);
  }

  end(): CustomerState {
    return this.#customer.toState(this.#nextDueAt);
  }
}
