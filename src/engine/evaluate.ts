import { evaluateAt, evaluateTimer, evaluateTrack, invalidate } from "./evaluation.js";
import { jsonEquals, setMember } from "./json.js";
import { isAhead, isLateTrack } from "./timers.js";
import { type Budget, type Model, OpenCustomer, UNBOUNDED } from "./open-customer.js";
import { requireMemoryOf } from "./state/layout.js";
import type {
  CustomerState,
  Effect,
  HistorySource,
  IdentifyOperation,
  Operation,
  TrackOperation,
} from "./state/types.js";

export interface EvaluateOptions {
  /** The service's clock. */
  now: number;
  /** `fire` evaluates after the operations what is due up to `now`; `hold` leaves it due. See `timersMayFire`. */
  timers: "fire" | "hold";
  history?: HistorySource;
  /** Unbounded unless given. */
  budget?: Budget;
  /**
   * Of the operations that earlier calls deferred and that are not handed in, when the first is due: whatever comes after it waits for
   * another call. All are handed in unless given.
   */
  aheadFrom?: number;
}

export interface Evaluated {
  state: CustomerState;
  /** What happened, in order. */
  effects: Effect[];
  /** How many of the operations had their turn. Where the budget was spent before, hand the others in again; there may be none. */
  taken: number;
  /** Whether the budget sufficed. Where it did not, call again, with the operations that are left and those deferred. */
  isDone: boolean;
  /** Events that lay too far ahead when they were accepted and whose instant has not come: hand them in again. */
  deferred: TrackOperation[];
}

/**
 * How many pending identifies a customer can have at different instants. They pile up only while a backfill holds the
 * timers; beyond this number the last of them moves to the newest instant, so that memory stays bounded.
 */
export const PENDING_IDENTIFIES_MAX = 100;

/**
 * Evaluates a customer's operations, given in order of acceptance, each at its instant and after everything due before it.
 * Pure: the state and the operations handed in are not changed, and the result depends on nothing else.
 *
 * @param operations the new ones and those that earlier calls deferred, merged in order of acceptance
 * @throws {Error} if the state's memory is that of another model: call `MemoryRebuild` first
 * @throws {HistoryNeeded} if evaluated events are needed that are not at hand: fetch them and call again
 */
export function evaluate(
  model: Model,
  state: CustomerState,
  operations: readonly Operation[],
  options: EvaluateOptions,
): Evaluated {
  requireMemoryOf(model, state);
  const customer = new OpenCustomer(model, state, options.history, options.budget ?? UNBOUNDED);
  const { aheadFrom = Infinity } = options;
  let taken = 0;
  while (taken < operations.length && takeOperation(customer, operations[taken]!, aheadFrom)) taken++;
  const isDone =
    taken === operations.length &&
    (options.timers === "hold" || evaluateBefore(customer, options.now, "all", aheadFrom));
  return {
    state: customer.toState(nextDue(customer)),
    effects: customer.effects,
    taken,
    isDone,
    deferred: customer.waiting.slice().sort((a, b) => a.seq - b.seq),
  };
}

/** Evaluates an operation and what is due before it; false where the budget is spent before the operation's turn. */
export function takeOperation(customer: OpenCustomer, operation: Operation, aheadFrom: number): boolean {
  if (operation.kind === "identify") return takeIdentify(customer, operation, aheadFrom);
  if (isAhead(operation)) {
    noteTrack(customer, operation);
    const { waiting } = customer;
    let at = waiting.length;
    while (at > 0 && waiting[at - 1]!.occurredAt > operation.occurredAt) at--;
    waiting.splice(at, 0, operation);
    return true;
  }
  const instant = Math.max(customer.clock, operation.occurredAt);
  if (Math.min(nextDue(customer), aheadFrom) <= instant && !evaluateBefore(customer, instant, "all", aheadFrom)) {
    return false;
  }
  if (!customer.mayGoOn()) return false;
  noteTrack(customer, operation);
  evaluateTrack(customer, operation);
  return true;
}

function takeIdentify(customer: OpenCustomer, operation: IdentifyOperation, aheadFrom: number): boolean {
  const { acceptedAt, seq } = operation;
  // At the head of a backfill and within one, the clock stays in the past for the history that follows. What is due at the
  // clock is evaluated even so, before the traits change: a tick at that instant could have done it.
  const isBackfill = customer.lastTrack === null || isLateTrack(customer.lastTrack);
  const through = isBackfill ? Math.min(acceptedAt, customer.clock) : acceptedAt;
  if (!evaluateBefore(customer, through, through < acceptedAt ? "all" : "timers", aheadFrom)) return false;
  if (!mergeTraits(customer, operation)) return true;
  customer.traitsChangedAt = acceptedAt;
  customer.traitsChangedSeq = seq;
  invalidate(customer);
  const { traitsDue } = customer;
  const due = { occurredAt: Math.max(acceptedAt, customer.clock), seq };
  // Several identifies of one instant are one, which is the last of them.
  const same = traitsDue.findIndex(({ occurredAt }) => occurredAt === due.occurredAt);
  if (same >= 0) traitsDue.splice(same, 1);
  else if (traitsDue.length === PENDING_IDENTIFIES_MAX) traitsDue.pop();
  traitsDue.push(due);
  traitsDue.sort((a, b) => a.occurredAt - b.occurredAt);
  return true;
}

/** Merges traits by key, null removing one, and tells whether any changed. */
function mergeTraits(customer: OpenCustomer, { traits }: IdentifyOperation): boolean {
  let changed = false;
  for (const [name, value] of Object.entries(traits)) {
    const present = Object.hasOwn(customer.traits, name) ? customer.traits[name]! : null;
    if (jsonEquals(present, value)) continue;
    if (value === null) delete customer.ownTraits()[name];
    else setMember(customer.ownTraits(), name, value);
    changed = true;
  }
  return changed;
}

/** Remembers the last track operation in order of acceptance. Deferred ones come again, and are not later for that. */
function noteTrack(customer: OpenCustomer, { occurredAt, acceptedAt, seq }: TrackOperation): void {
  if (customer.lastTrack === null || seq > customer.lastTrack.seq) {
    customer.lastTrack = { occurredAt, acceptedAt, seq };
  }
}

/**
 * Evaluates what is due up to an instant, in order. At one instant timers come first, then pending identifies, then
 * operations.
 *
 * @param at what to evaluate at the last instant itself: at an identify's own only timers, since it joins the identifies
 *   that are pending then, and operations come after it
 * @returns false where the budget was spent before
 */
export function evaluateDue(customer: OpenCustomer, through: number, at: "all" | "timers"): boolean {
  for (;;) {
    const timer = timerDue(customer);
    const identify = identifyDue(customer);
    const operation = operationDue(customer);
    const other = Math.min(identify, operation);
    const isTimer = timer <= through && timer <= other;
    if (!isTimer && (other > through || (other === through && at === "timers"))) return true;
    if (!customer.mayGoOn()) return false;
    if (isTimer) {
      evaluateTimer(customer, timer);
    } else if (identify <= operation) {
      customer.identify = customer.traitsDue.shift()!;
      evaluateAt(customer, identify, "identify");
    } else {
      evaluateTrack(customer, customer.waiting.shift()!);
    }
  }
}

/** The same, but no further than an operation that is not at hand; false also where that is due by then. */
function evaluateBefore(customer: OpenCustomer, through: number, at: "all" | "timers", aheadFrom: number): boolean {
  const missing = Math.max(aheadFrom, customer.clock);
  if (missing > through || (missing === through && at === "timers")) return evaluateDue(customer, through, at);
  // Those at hand that are due with it were accepted before it.
  evaluateDue(customer, missing, "all");
  return false;
}

export function nextDue(customer: OpenCustomer): number {
  return Math.min(timerDue(customer), identifyDue(customer), operationDue(customer));
}

function identifyDue({ traitsDue }: OpenCustomer): number {
  return traitsDue[0]?.occurredAt ?? Infinity;
}

/** The next change by time alone. A customer whose first operation lies ahead is due at its acceptance. */
function timerDue(customer: OpenCustomer): number {
  if (!customer.isNew || customer.waiting.length === 0 || customer.traitsDue.length > 0) return customer.timerDueAt;
  return customer.waiting.reduce((least, { acceptedAt }) => Math.min(least, acceptedAt), Infinity);
}

function operationDue({ waiting, clock }: OpenCustomer): number {
  return waiting.length === 0 ? Infinity : Math.max(waiting[0]!.occurredAt, clock);
}
