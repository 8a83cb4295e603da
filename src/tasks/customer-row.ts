import type { CustomerColumns } from "../db/calls-evaluation.js";
import { heldUntil, type CustomerState } from "../engine/index.js";

/** A state as the columns of svc.customers keep it. */
export function customerColumns(state: CustomerState): CustomerColumns {
  // Traits have a column of their own, merged by the database from what was accepted.
  const { traits: _, ...kept } = state;
  return {
    customerId: state.customerId,
    lifecycle: state.lifecycle?.state ?? null,
    lifecycleEnteredAt: state.lifecycle?.enteredAt ?? null,
    lastEventAt: state.lastEventAt,
    evaluatedThrough: state.evaluatedThrough,
    nextDueAt: state.nextDueAt,
    heldUntil: heldUntil(state),
    health: state.health,
    state: kept,
  };
}
