import { evaluateAt, evaluateTimer, evaluateTrack, invalidate } from "./evaluation.js";
import { jsonEquals, setMember } from "./json.js";
import { isInFuture, isLateTrack } from "./timers.js";
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
  /** `fire`: after the operations, evaluate everything due up to `now`; `hold`: leave it due. See `timersMayFire`. */
  timers: "fire" | "hold";
  history?: HistorySource;
  /** Unbounded unless given. */
  budget?: Budget;
  /**
   * When the first of the deferred operations that are not passed in is due: everything after it waits for another call. Omitted if all
   * deferred operations are passed in.
   */
  aheadFrom?: number;
}

export interface Evaluated {
  state: CustomerState;
  /** What happened, in order. */
  effects: Effect[];
  /** How many of the operations were processed. Pass the remaining ones, if any, in again. */
  taken: number;
  /** Whether the call finished. If not, call again with the remaining and the deferred operations, even if there are none. */
  isDone: boolean;
  /** Events that were in the future when they were accepted and whose instant has not come: pass them in again. */
  deferred: TrackOperation[];
}

/**
 * How many pending identifies a customer can have at different instants. They accumulate only while a backfill holds the
 * timers; beyond this number the last one moves to the newest instant, so that memory stays bounded.
 */
export const PENDING_IDENTIFIES_MAX = 100;

/**
 * Evaluates a customer's operations, given in order of acceptance, each at its instant and after everything due before it.
 * Pure: the arguments are not changed, and the result depends on nothing else.
 *
 * @param operations the new ones and those that earlier calls deferred, merged in order of acceptance
 * @throws {Error} if the state's memory belongs to another model: use `MemoryRebuild` first
 * @throws {HistoryNeeded} if evaluated events are needed that are not loaded: fetch them and call again
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

/** Evaluates everything due before an operation, and the operation; false if the budget is spent before the operation. */
export function takeOperation(customer: OpenCustomer, operation: Operation, aheadFrom: number): boolean {
  if (operation.kind === "identify") return takeIdentify(customer, operation, aheadFrom);
  if (isInFuture(operation)) {
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
  if (!customer.hasBudget()) return false;
  noteTrack(customer, operation);
  evaluateTrack(customer, operation);
  return true;
}

function takeIdentify(customer: OpenCustomer, operation: IdentifyOperation, aheadFrom: number): boolean {
  const { acceptedAt, seq } = operation;
  // At the start of a backfill and within one, the clock stays in the past for the history that follows. What is due at the
  // clock is evaluated anyway before the traits change, as a tick at that instant could have done.
  const isBackfill = customer.lastTrack === null || isLateTrack(customer.lastTrack);
  const through = isBackfill ? Math.min(acceptedAt, customer.clock) : acceptedAt;
  if (!evaluateBefore(customer, through, through < acceptedAt ? "all" : "timers", aheadFrom)) return false;
  if (!mergeTraits(customer, operation)) return true;
  customer.traitsChangedAt = acceptedAt;
  customer.traitsChangedSeq = seq;
  invalidate(customer);
  const { traitsDue } = customer;
  const due = { occurredAt: Math.max(acceptedAt, customer.clock), seq };
  // Several identifies of one instant are evaluated once, as the last of them.
  const same = traitsDue.findIndex(({ occurredAt }) => occurredAt === due.occurredAt);
  if (same >= 0) traitsDue.splice(same, 1);
  else if (traitsDue.length === PENDING_IDENTIFIES_MAX) traitsDue.pop();
  traitsDue.push(due);
  traitsDue.sort((a, b) => a.occurredAt - b.occurredAt);
  return true;
}

/** Merges traits by key (null removes one) and returns whether any changed. */
function mergeTraits(customer: OpenCustomer, { traits }: IdentifyOperation): boolean {
  let changed = false;
  for (const [name, value] of Object.entries(traits)) {
    const current = Object.hasOwn(customer.traits, name) ? customer.traits[name]! : null;
    if (jsonEquals(current, value)) continue;
    if (value === null) delete customer.ownTraits()[name];
    else setMember(customer.ownTraits(), name, value);
    changed = true;
  }
  return changed;
}

/** Remembers the last track operation in order of acceptance. A deferred one is passed in again later, hence the comparison. */
function noteTrack(customer: OpenCustomer, { occurredAt, acceptedAt, seq }: TrackOperation): void {
  if (customer.lastTrack === null || seq > customer.lastTrack.seq) {
    customer.lastTrack = { occurredAt, acceptedAt, seq };
  }
}

/**
 * Evaluates everything due up to an instant, in order. At the same instant timers come first, then pending identifies, then
 * operations.
 *
 * @param at what to evaluate at the instant `through` itself: only timers before an identify of that instant, since it joins
 *   the identifies that are pending then, and operations come after it
 * @returns false if the budget was spent before
 */
export function evaluateDue(customer: OpenCustomer, through: number, at: "all" | "timers"): boolean {
  for (;;) {
    const timer = timerDue(customer);
    const identify = identifyDue(customer);
    const operation = operationDue(customer);
    const other = Math.min(identify, operation);
    const isTimer = timer <= through && timer <= other;
    if (!isTimer && (other > through || (other === through && at === "timers"))) return true;
    if (!customer.hasBudget()) return false;
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

/** Like `evaluateDue`, but stops at the first deferred operation that was not passed in; also returns false if that is due by then. */
function evaluateBefore(customer: OpenCustomer, through: number, at: "all" | "timers", aheadFrom: number): boolean {
  const missingAt = Math.max(aheadFrom, customer.clock);
  if (missingAt > through || (missingAt === through && at === "timers")) return evaluateDue(customer, through, at);
  // The operations passed in that are due at the same instant were accepted before the missing one.
  evaluateDue(customer, missingAt, "all");
  return false;
}

export function nextDue(customer: OpenCustomer): number {
  return Math.min(timerDue(customer), identifyDue(customer), operationDue(customer));
}

function identifyDue({ traitsDue }: OpenCustomer): number {
  return traitsDue[0]?.occurredAt ?? Infinity;
}

/** The next change by time alone. A new customer whose first operation is in the future is due at the acceptance of that operation. */
function timerDue(customer: OpenCustomer): number {
  if (!customer.isNew || customer.waiting.length === 0 || customer.traitsDue.length > 0) return customer.timerDueAt;
  return customer.waiting.reduce((least, { acceptedAt }) => Math.min(least, acceptedAt), Infinity);
}

function operationDue({ waiting, clock }: OpenCustomer): number {
  return waiting.length === 0 ? Infinity : Math.max(waiting[0]!.occurredAt, clock);
}
