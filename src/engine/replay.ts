import { evaluateDue, nextDue } from "./evaluate.js";
import { evaluateAt, evaluateTrack, invalidate } from "./evaluation.js";
import { newCustomer } from "./state/customer.js";
import { type Budget, type Model, OpenCustomer, UNBOUNDED } from "./open-customer.js";
import type { CustomerState, Effect, HistorySource, Json, TrackedEvent } from "./state/types.js";

/** What a replay takes over of the customer as live evaluation left it. */
export interface ReplayInput {
  customerId: string;
  createdAt: number;
  /** When live evaluation of the customer began; null if it never did. */
  firstEvaluatedAt: number | null;
  /** The traits as they are now: they hold from the beginning. */
  traits: Record<string, Json>;
  /** When they last changed, and the place of the identify that changed them, where it is known. */
  traitsChangedAt: number | null;
  traitsChangedSeq?: number;
  /** The latest event that live evaluation has seen, which retention may have removed since. */
  lastEventAt: number | null;
  /** The last track operation in order of acceptance, which may lie ahead and not be part of the history yet. */
  lastTrack: CustomerState["lastTrack"];
}

export interface ReplayPart {
  /** Where the part before ended; null at the beginning. */
  state: CustomerState | null;
  /** The next of the retained events that live evaluation has seen, in order of occurrence and acceptance. */
  events: Iterable<TrackedEvent>;
  /** With the last part: the final instant. Null where more events follow. */
  through: number | null;
  /** The events of the parts before, as far as they are at hand. */
  history?: HistorySource;
  /** Unbounded unless given. */
  budget?: Budget;
}

export interface Replayed {
  state: CustomerState;
  effects: Effect[];
  /** How many of the events were evaluated. */
  taken: number;
  /** Whether the budget sufficed. Where it did not, the next part begins with the events that are left. */
  isDone: boolean;
}

/**
 * Evaluates a customer's history from zero, as if it had come in order: the events, what time alone brings about between
 * them and through the final instant, and once, when the traits last changed, the rules that this triggers. This is a part
 * of it, so that a long history need not be in memory at once; however it is parted, the end is the same.
 *
 * The effects are what the logs hold afterwards. Their emissions are not to be sent: a receiver has had those of live
 * evaluation. See `corrections` and `untoldExpirations`.
 *
 * @throws {HistoryNeeded} if events of earlier parts are needed that are not at hand: fetch them and call again
 */
export function replayPart(
  model: Model,
  input: ReplayInput,
  { state, events, through, history, budget = UNBOUNDED }: ReplayPart,
): Replayed {
  const customer = new OpenCustomer(model, state ?? zero(input), history, budget);
  let taken = 0;
  let isDone = true;
  for (const event of events) {
    isDone = take(customer, input, event);
    if (!isDone) break;
    taken++;
  }
  if (isDone && through !== null) isDone = end(customer, input, through);
  return { state: customer.toState(nextDue(customer)), effects: customer.effects, taken, isDone };
}

/** Evaluates what is due before an event, and the event; false where the budget was spent before that. */
function take(customer: OpenCustomer, input: ReplayInput, event: TrackedEvent): boolean {
  if (customer.isNew) begin(customer, input, event.occurredAt);
  if (!evaluateDue(customer, event.occurredAt, "all") || !customer.mayGoOn()) return false;
  evaluateTrack(customer, event);
  return true;
}

function zero({ customerId, createdAt, traits, lastTrack, traitsChangedAt, traitsChangedSeq }: ReplayInput) {
  const blank = { ...newCustomer(customerId, createdAt), traits, lastTrack, traitsChangedAt };
  if (traitsChangedAt === null) return blank;
  if (traitsChangedSeq === undefined) return { ...blank, traitsDueAt: [traitsChangedAt] };
  return { ...blank, traitsChangedSeq, traitsDueAt: [traitsChangedAt], traitsDueSeqs: [traitsChangedSeq] };
}

/** Evaluates where live evaluation began, no earlier than the creation, if that was before the first retained event. */
function begin(customer: OpenCustomer, input: ReplayInput, firstEventAt: number): void {
  if (input.firstEvaluatedAt === null) return;
  const at = Math.max(input.createdAt, input.firstEvaluatedAt);
  if (at >= firstEventAt) return;
  if (input.traitsChangedAt === at) evaluateDue(customer, at, "all");
  else evaluateAt(customer, at, "timer");
}

function end(customer: OpenCustomer, input: ReplayInput, through: number): boolean {
  if (customer.isNew) begin(customer, input, Infinity);
  if (input.lastEventAt !== null && input.lastEventAt > customer.lastEventAt) {
    customer.lastEventAt = input.lastEventAt;
    invalidate(customer);
  }
  return evaluateDue(customer, through, "all");
}
