import { evaluateDue, nextDue, takeOperation } from "./evaluate.js";
import { type Budget, type Model, OpenCustomer, UNBOUNDED } from "./open-customer.js";
import { requireMemoryOf } from "./state/layout.js";
import type { CustomerState, Effect, HealthScore, HistorySource, Operation } from "./state/types.js";

/** What a model says of a customer at an instant. */
export interface Said {
  state: string | null;
  /** Ids, sorted. */
  segments: string[];
  /** Ids of raised signals, sorted. */
  signals: string[];
  health: HealthScore | null;
}

export interface SamplePart {
  /** The next ones in order of acceptance. Events are accepted when they occur, so that nothing is known too early or too late. */
  operations: readonly Operation[];
  /** The next instants to look at, ascending; none after which operations follow in another part. */
  instants: readonly number[];
  /** The events of the parts before, as far as they are at hand. */
  history?: HistorySource;
  /** Unbounded unless given. */
  budget?: Budget;
}

export interface Sampled {
  state: CustomerState;
  effects: Effect[];
  /** How many of the operations were taken. */
  taken: number;
  /** By instant that was looked at: null where the customer was not known yet. */
  said: (Said | null)[];
  /** Whether the budget sufficed. Where it did not, go on with the operations and instants that are left. */
  isDone: boolean;
}

/**
 * Evaluates operations, and tells on the way what the model says at instants: what happened up to and including each, and nothing later.
 *
 * @throws {HistoryNeeded} if events of earlier parts are needed that are not at hand: fetch them and call again
 */
export function sampleThrough(
  model: Model,
  state: CustomerState,
  { operations, instants, history, budget = UNBOUNDED }: SamplePart,
): Sampled {
  requireMemoryOf(model, state);
  const customer = new OpenCustomer(model, state, history, budget);
  const said: (Said | null)[] = [];
  let taken = 0;
  let mayGoOn = true;
  while (mayGoOn && (taken < operations.length || said.length < instants.length)) {
    const operation = operations[taken];
    const instant = instants[said.length] ?? Infinity;
    if (operation !== undefined && operation.acceptedAt <= instant) {
      // Where no event came before, an identify alone would change the traits of what is still due, too.
      mayGoOn = evaluateDue(customer, operation.acceptedAt, "timers") && takeOperation(customer, operation, Infinity);
      if (mayGoOn) taken++;
    } else {
      mayGoOn = evaluateDue(customer, instant, "all");
      if (mayGoOn) said.push(saidOf(customer));
    }
  }
  return { state: customer.toState(nextDue(customer)), effects: customer.effects, taken, said, isDone: mayGoOn };
}

function saidOf(customer: OpenCustomer): Said | null {
  if (customer.isNew) return null;
  const { model, enteredSegmentAt, signals } = customer;
  return {
    state: customer.state,
    segments: model.segments.filter((_, index) => enteredSegmentAt[index] !== undefined).sort(),
    signals: model.signals.flatMap(({ id }, index) => (signals[index] === undefined ? [] : id)).sort(),
    health: customer.health,
  };
}
