import { LIMITS } from "../snapshot/limits.js";
import { limit, type Placed } from "../snapshot/list.js";
import { at, type Problems, quote } from "../snapshot/problem.js";
import { checkIdentifier, type Scope, unknown } from "./scope.js";
import { fits, LIFECYCLE, STATE, TRANSITION } from "./shapes.js";
import type { Lifecycle, LifecycleState, Transition } from "../snapshot/types.js";
import { checkCondition } from "./condition.js";

export interface ReadLifecycle {
  initial: string;
  states: Placed<LifecycleState>[];
}

/** Undefined where the shape is broken. */
export function readLifecycle(value: unknown, problems: Problems): ReadLifecycle | null | undefined {
  if (value === null) return null;
  if (!fits(LIFECYCLE, value, "lifecycle", problems)) return undefined;
  const { initial, states } = value as Lifecycle;
  limit(states.length, LIMITS.states, "lifecycle.states", problems);
  const read = states.map((item, index) => ({ item, path: at("lifecycle.states", index) }));
  const sound = read.filter(({ item, path }) => fits(STATE, item, path, problems));
  // A state that cannot be read may be the one that others name.
  return sound.length === read.length ? { initial, states: read } : undefined;
}

export function checkLifecycle(lifecycle: ReadLifecycle, scope: Scope): void {
  const { problems } = scope;
  const seen = new Set<string>();
  checkTarget(lifecycle.initial, "lifecycle.initial", scope);
  for (const { item: state, path } of lifecycle.states) {
    const place = at(path, "name");
    checkIdentifier(state.name, place, problems);
    if (state.name === "created") {
      problems.add(
        place,
        "RESERVED_NAME",
        `no state may be called "created": each customer's first emission is customer.created`,
      );
    }
    if (seen.has(state.name)) problems.add(place, "DUPLICATE_STATE", `there is another state ${quote(state.name)}`);
    seen.add(state.name);
    if (state.terminal && state.transitions.length > 0) {
      const message = `the terminal state ${quote(state.name)} must not have transitions`;
      problems.add(at(path, "transitions"), "TERMINAL_STATE_WITH_TRANSITIONS", message);
    }
    state.transitions.forEach((transition, index) =>
      checkTransition(transition, at(at(path, "transitions"), index), scope),
    );
  }
}

function checkTransition(transition: Transition, path: string, scope: Scope): void {
  if (!fits(TRANSITION, transition, path, scope.problems)) return;
  checkTarget(transition.to, at(path, "to"), scope);
  checkCondition(transition.when, at(path, "when"), scope);
}

function checkTarget(state: string, path: string, { states, problems }: Scope): void {
  if (states?.has(state)) return;
  unknown(problems, path, "UNKNOWN_STATE", `the lifecycle has no state ${quote(state)}`, state, states ?? []);
}
