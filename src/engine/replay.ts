import { evaluateDue, nextDue } from "./evaluate.js";
import { evaluateAt, evaluateTrack, invalidate } from "./evaluation.js";
import { newCustomer } from "./state/customer.js";
import { type Budget, type Model, OpenCustomer, UNBOUNDED } from "./open-customer.js";
import type { CustomerState, Effect, HistorySource, Json, TrackedEvent } from "./state/types.js";

/** What a replay takes over from live evaluation of the customer. */
export interface ReplayInput {
  customerId: string;
  createdAt: number;
  /** When live evaluation of the customer began; null if it never did. */
  firstEvaluatedAt: number | null;
  /** The current traits; a replay uses them from the beginning. */
  traits: Record<string, Json>;
  /** When they last changed, and the `seq` of the identify that changed them, if known. */
  traitsChangedAt: number | null;
  traitsChangedSeq?: number;
  /** The latest event that live evaluation has seen, which retention may have removed since. */
  lastEventAt: number | null;
  /** The last track operation in order of acceptance; it may be in the future and not yet part of the history. */
  lastTrack: CustomerState["lastTrack"];
}

export interface ReplayPart {
  /** The state at the end of the previous part; null for the first part. */
  state: CustomerState | null;
  /** The next of the retained events that live evaluation has seen, in order of occurrence and acceptance. */
  events: Iterable<TrackedEvent>;
  /** The final instant, with the last part; null if more events follow. */
  through: number | null;
  /** The events of earlier parts, as far as they are loaded. */
  history?: HistorySource;
  /** Unbounded unless given. */
  budget?: Budget;
}

export interface Replayed {
  state: CustomerState;
  effects: Effect[];
  /** How many of the events were evaluated. */
  taken: number;
  /** Whether the budget sufficed. If not, the next part begins with the remaining events. */
  isDone: boolean;
}

/**
 * Replays one part of a customer's history from the beginning, as if it had arrived in order: the events, everything due by time
 * alone between them and through the final instant, and, once, at the instant of the last change of traits, the rules that this
 * triggers. In parts, a long history need not be in memory at once; the result does not depend on how it is divided.
 *
 * The effects are what the logs contain afterwards. Do not send their emissions: receivers already got those of live
 * evaluation. See `corrections` and `unemittedExpirations`.
 *
 * @throws {HistoryNeeded} if events of earlier parts are needed that are not loaded: fetch them and call again
 */
export function replayPart(
  model: Model,
  input: ReplayInput,
  { state, events, through, history, budget = UNBOUNDED }: ReplayPart,
): Replayed {
  const customer = new OpenCustomer(model, state ?? initialState(input), history, budget);
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

/** Evaluates what is due before an event, and the event; false if the budget was spent before the event. */
function take(customer: OpenCustomer, input: ReplayInput, event: TrackedEvent): boolean {
  if (customer.isNew) begin(customer, input, event.occurredAt);
  if (!evaluateDue(customer, event.occurredAt, "all") || !customer.hasBudget()) return false;
  evaluateTrack(customer, event);
  return true;
}

function initialState({ customerId, createdAt, traits, lastTrack, traitsChangedAt, traitsChangedSeq }: ReplayInput) {
  const blank = { ...newCustomer(customerId, createdAt), traits, lastTrack, traitsChangedAt };
  if (traitsChangedAt === null) return blank;
  if (traitsChangedSeq === undefined) return { ...blank, traitsDueAt: [traitsChangedAt] };
  return { ...blank, traitsChangedSeq, traitsDueAt: [traitsChangedAt], traitsDueSeqs: [traitsChangedSeq] };
}

/** Evaluates at the instant at which live evaluation began (not before the creation), if that was before the first retained event. */
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
