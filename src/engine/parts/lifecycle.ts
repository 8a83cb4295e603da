import type { Lifecycle } from "../../model/snapshot/types.js";
import type { ConditionCompiler } from "../conditions/conditions.js";
import { type CompiledCondition, earliest } from "../conditions/leaf.js";
import { LIFECYCLE_ITEM } from "../compile-context.js";
import { type DerivedPart, lifecycleEmission, type NextChange, type OpenCustomer } from "../open-customer.js";

interface CompiledState {
  transitions: { to: string; when: CompiledCondition }[];
  nextChange: NextChange;
}

/** The lifecycle: one state, left by the first declared transition whose condition holds. */
export function compileLifecycleItem(lifecycle: Lifecycle, compiler: ConditionCompiler): DerivedPart {
  const states = new Map<string, CompiledState>();
  for (const state of lifecycle.states) {
    const declared = state.terminal ? [] : state.transitions;
    const transitions = declared.map(({ to, when }) => ({ to, when: compiler.compile(when) }));
    states.set(state.name, { transitions, nextChange: earliest(transitions.map(({ when }) => when)) });
  }
  return {
    name: LIFECYCLE_ITEM,
    reads: compiler.reads,
    run: (customer) => runLifecycle(customer, lifecycle.initial, states),
    nextChange: (customer) => states.get(customer.state!)?.nextChange(customer) ?? Infinity,
    explain(customer) {
      const transitions = states.get(customer.state ?? lifecycle.initial)?.transitions ?? [];
      return {
        state: customer.state,
        transitions: transitions.map(({ to, when }) => ({ to, condition: when.explain(customer) })),
      };
    },
  };
}

function runLifecycle(customer: OpenCustomer, initial: string, states: ReadonlyMap<string, CompiledState>): boolean {
  let changed = false;
  if (customer.state === null) {
    enter(customer, null, initial);
    changed = true;
  }
  if (customer.blockedItems.includes(customer.model.lifecycleItem)) return changed;
  for (;;) {
    // A state that is no longer in the model has no transitions.
    const transitions = states.get(customer.state!)?.transitions;
    const next = transitions?.find(({ when }) => when.test(customer));
    if (next === undefined) return changed;
    const from = customer.state!;
    if (wasHeld(customer, next.to) || customer.isAtMoveLimit) {
      customer.blockedItems.push(customer.model.lifecycleItem);
      customer.push({ kind: "blocked", from, to: next.to });
      return changed;
    }
    enter(customer, from, next.to);
    changed = true;
  }
}

/** Whether the customer was in a state in this evaluation already, including at its beginning. */
function wasHeld(customer: OpenCustomer, state: string): boolean {
  return customer.state === state || (customer.heldIn === customer.evaluation && customer.held.includes(state));
}

function enter(customer: OpenCustomer, from: string | null, to: string): void {
  if (customer.heldIn !== customer.evaluation) {
    customer.held = [];
    customer.heldIn = customer.evaluation;
  }
  if (from !== null) {
    customer.held.push(from);
    customer.noteOccasion("lifecycle.exited", from);
  }
  customer.enterState(to);
  customer.noteOccasion("lifecycle.entered", to);
  customer.push({ kind: "transition", from, to });
  customer.emit(lifecycleEmission(from, to), "lifecycle", {
    previous_lifecycle: from,
    new_lifecycle: to,
  });
}
