import { newCustomer } from "./customer.js";
import { evaluateDue, nextDue } from "./evaluate.js";
import { evaluateAt, evaluateTrack, invalidate } from "./evaluation.js";
import type { Model } from "./model.js";
import type { CustomerState, Effect, HistorySource, Json, TrackOperation } from "./types.js";
import { Working } from "./working.js";

export interface ReplayInput {
  customerId: string;
  createdAt: number;
  /** When live evaluation of the customer began; null if it never did. */
  firstEvaluatedAt: number | null;
  /** The traits as they are now: they hold from the beginning. */
  traits: Record<string, Json>;
  /** When they last changed. */
  traitsChangedAt: number | null;
  /** The latest event that live evaluation has seen, which retention may have removed since. */
  lastEventAt: number | null;
  /** The retained events that live evaluation has seen, in order of occurrence and acceptance. */
  events: Iterable<TrackOperation>;
  /** The final instant. */
  through: number;
  history?: HistorySource;
}

/**
 * Evaluates a customer's history from zero, as if it had come in order: the events, what time alone brings about between
 * them and through the final instant, and once, when the traits last changed, the rules that this triggers.
 *
 * The effects are what the logs hold afterwards. Their emissions are not to be sent: a receiver has had those of live
 * evaluation. See `corrections`.
 */
export function replay(model: Model, input: ReplayInput): { state: CustomerState; effects: Effect[] } {
  const { customerId, createdAt, traits, traitsChangedAt } = input;
  const traitsDueAt = traitsChangedAt === null ? [] : [traitsChangedAt];
  const zero = { ...newCustomer(customerId, createdAt), traits, traitsChangedAt, traitsDueAt };
  const customer = new Working(model, zero, input.history);

  for (const event of input.events) {
    if (customer.isNew) begin(customer, input, event.occurredAt);
    const { lastTrack } = customer;
    if (lastTrack === null || event.seq > lastTrack.seq) {
      customer.lastTrack = { occurredAt: event.occurredAt, acceptedAt: event.acceptedAt, seq: event.seq };
    }
    evaluateDue(customer, event.occurredAt, "all");
    evaluateTrack(customer, event);
  }
  if (customer.isNew) begin(customer, input, Infinity);
  if (input.lastEventAt !== null && input.lastEventAt > customer.lastEventAt) {
    customer.lastEventAt = input.lastEventAt;
    invalidate(customer);
  }
  evaluateDue(customer, input.through, "all");
  return { state: customer.toState(nextDue(customer)), effects: customer.effects };
}

/** Evaluates where live evaluation began, no earlier than the creation, if that was before the first retained event. */
function begin(customer: Working, input: ReplayInput, firstEventAt: number): void {
  if (input.firstEvaluatedAt === null) return;
  const at = Math.max(input.createdAt, input.firstEvaluatedAt);
  if (at >= firstEventAt) return;
  if (input.traitsChangedAt === at) evaluateDue(customer, at, "all");
  else evaluateAt(customer, at, "timer");
}
