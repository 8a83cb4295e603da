import type { Action as ActionNode } from "../snapshot/types.js";
import type { ManualSegment } from "./segment.js";
import type { ManualSignal } from "./signal.js";
import { located } from "./site.js";
import { ACTION } from "./symbols.js";

/** What a rule does when it passes. */
export interface Action {
  readonly [ACTION]: ActionNode;
}

/** Adds the customer to a segment that has no condition. Nothing changes for a customer who is in it. */
export function addTo(segment: ManualSegment): Action {
  return action({ kind: "addToSegment", segment: segment.id });
}

/** Removes the customer from a segment that has no condition. Nothing changes for a customer who is not in it. */
export function removeFrom(segment: ManualSegment): Action {
  return action({ kind: "removeFromSegment", segment: segment.id });
}

/** Emits an event type of your own, such as "upsell.ready", to webhooks and the customer's timeline. */
export function emit(type: string): Action {
  return action({ kind: "emit", type });
}

/** Raises a signal that has no condition. Raising it again renews its `for` and emits nothing. */
export function raise(signal: ManualSignal): Action {
  return action({ kind: "raiseSignal", signal: signal.id });
}

/** Clears a signal that has no condition. Nothing changes where it is not raised. */
export function clear(signal: ManualSignal): Action {
  return action({ kind: "clearSignal", signal: signal.id });
}

function action(node: ActionNode): Action {
  return { [ACTION]: located(node) };
}
