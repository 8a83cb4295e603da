import { evaluateDue, nextDue, takeOperation } from "./evaluate.js";
import { type Budget, type Model, OpenCustomer, UNBOUNDED } from "./open-customer.js";
import { requireMemoryOf } from "./state/layout.js";
import type { CustomerState, Effect, HealthScore, HistorySource, Operation } from "./state/types.js";

/** What a model derives for a customer at an instant. */
export interface ModelOutput {
  state: string | null;
  /** Ids, sorted. */
  segments: string[];
  /** Ids of raised signals, sorted. */
  signals: string[];
  health: HealthScore | null;
}

export interface SamplePart {
  /** The next operations in order of acceptance. Events are accepted when they occur, so that nothing is known too early or too late. */
  operations: readonly Operation[];
  /** The next instants to sample, ascending, each before all operations of later parts. */
  instants: readonly number[];
  /** The events of earlier parts, as far as they are loaded. */
  history?: HistorySource;
  /** Unbounded unless given. */
  budget?: Budget;
}

export interface Sampled {
  state: CustomerState;
  effects: Effect[];
  /** How many of the operations were evaluated. */
  taken: number;
  /** By sampled instant; null if the customer did not exist yet. */
  said: (ModelOutput | null)[];
  /** Whether the budget sufficed. If not, call again with the remaining operations and instants. */
  isDone: boolean;
}

/**
 * Evaluates operations and samples what the model derives at the given instants: from everything up to and including each, and nothing later.
 *
 * @throws {HistoryNeeded} if events of earlier parts are needed that are not loaded: fetch them and call again
 */
export function sampleThrough(
  model: Model,
  state: CustomerState,
  { operations, instants, history, budget = UNBOUNDED }: SamplePart,
): Sampled {
  requireMemoryOf(model, state);
  const customer = new OpenCustomer(model, state, history, budget);
  const samples: (ModelOutput | null)[] = [];
  let taken = 0;
  let hasBudget = true;
  while (hasBudget && (taken < operations.length || samples.length < instants.length)) {
    const operation = operations[taken];
    const instant = instants[samples.length] ?? Infinity;
    if (operation !== undefined && operation.acceptedAt <= instant) {
      // Evaluate what is due first: without an earlier event, `takeOperation` would let the identify change the traits before that.
      hasBudget = evaluateDue(customer, operation.acceptedAt, "timers") && takeOperation(customer, operation, Infinity);
      if (hasBudget) taken++;
    } else {
      hasBudget = evaluateDue(customer, instant, "all");
      if (hasBudget) samples.push(sampleOf(customer));
    }
  }
  return {
    state: customer.toState(nextDue(customer)),
    effects: customer.effects,
    taken,
    said: samples,
    isDone: hasBudget,
  };
}

function sampleOf(customer: OpenCustomer): ModelOutput | null {
  if (customer.isNew) return null;
  const { model, enteredSegmentAt, signals } = customer;
  return {
    state: customer.state,
    segments: model.segments.filter((_, index) => enteredSegmentAt[index] !== undefined).sort(),
    signals: model.signals.flatMap(({ id }, index) => (signals[index] === undefined ? [] : id)).sort(),
    health: customer.health,
  };
}
