import { refreshDue } from "./parts/health.js";
import type { OpenCustomer } from "./open-customer.js";
import type { TrackedEvent } from "./state/types.js";

/**
 * One evaluation, at the instant of an operation or of something due: updates every item, each after the items whose values
 * it reads, in passes until one changes nothing. Afterwards the clock is at the instant and `timerDueAt` is the next change
 * by time alone.
 *
 * Only dirty items are evaluated. No other item can have changed: each change of an input marks its readers, and what changes
 * by time alone is due at that instant.
 */
export function evaluateAt(
  customer: OpenCustomer,
  instant: number,
  causeKind: OpenCustomer["causeKind"],
  operation: TrackedEvent | null = null,
): void {
  const { model } = customer;
  customer.evaluation++;
  if (model.refreshedItem >= 0) prepareHealth(customer, instant, causeKind !== "timer");
  customer.clock = instant;
  customer.causeKind = causeKind;
  customer.operation = operation;
  if (causeKind !== "timer") customer.movesByTime = 0;
  if (customer.firstEvaluatedAt === Infinity) customer.firstEvaluatedAt = instant;
  customer.awaitsEvaluation = false;
  if (causeKind === "identify") customer.mark(model.traitRuleItems);

  while (runPass(customer));
  if (customer.blockedItems.length > 0) {
    // Retry blocked items at the next operation or timer, whatever that concerns.
    customer.mark(customer.blockedItems);
    customer.blockedItems = [];
  }
  customer.timerDueAt = earliestDue(customer.dueAt);
}

/** An evaluation at an instant at which a condition changes by time alone. */
export function evaluateTimer(customer: OpenCustomer, instant: number): void {
  const { dirty, dueAt } = customer;
  for (let i = 0; i < dueAt.length; i++) if (dueAt[i]! <= instant) dirty[i] = 1;
  evaluateAt(customer, instant, "timer");
}

/** Applies an event at the customer's clock, or at its occurrence if that is later, and evaluates. */
export function evaluateTrack(customer: OpenCustomer, operation: TrackedEvent): void {
  const { occurredAt } = operation;
  customer.record(operation);
  if (occurredAt > customer.lastEventAt) customer.lastEventAt = occurredAt;
  customer.mark(customer.model.activityItems);
  const rules = customer.model.ruleItemsOf.get(operation.event);
  if (rules !== undefined) customer.mark(rules);
  evaluateAt(customer, Math.max(customer.clock, occurredAt), "event", operation);
}

/**
 * To be called when an input of conditions changed without an evaluation: the next evaluation looks at every item, and the next
 * changes by time alone are determined again. Until a new version's first evaluation the due instant of the former one is kept.
 */
export function invalidate(customer: OpenCustomer): void {
  const { model, dirty, dueAt } = customer;
  dirty.fill(1);
  if (customer.isNew || customer.awaitsEvaluation) return;
  model.items.forEach((item, i) => (dueAt[i] = item.nextChange(customer)));
  customer.timerDueAt = earliestDue(dueAt);
}

/** For health that no condition reads: decides whether to score it now, and marks it if it may have changed since it was last scored. */
function prepareHealth(customer: OpenCustomer, instant: number, isOperation: boolean): void {
  const { healthChangesAt } = customer;
  customer.scoresHealth = isOperation || refreshDue(customer, healthChangesAt) <= instant;
  if (customer.scoresHealth && (customer.healthIsStale || healthChangesAt <= instant)) {
    customer.dirty[customer.model.refreshedItem] = 1;
  }
}

function runPass(customer: OpenCustomer): boolean {
  const { model, dirty, dueAt } = customer;
  const { items, readers } = model;
  let changed = false;
  for (let i = 0; i < items.length; i++) {
    if (dirty[i] === 0) continue;
    dirty[i] = 0;
    const item = items[i]!;
    if (item.run(customer)) {
      changed = true;
      for (const reader of readers[i]!) dirty[reader] = 1;
    }
    dueAt[i] = item.nextChange(customer);
  }
  return changed;
}

function earliestDue(dueAt: Float64Array): number {
  let earliest = Infinity;
  for (let i = 0; i < dueAt.length; i++) if (dueAt[i]! < earliest) earliest = dueAt[i]!;
  return earliest;
}
