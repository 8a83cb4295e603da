import type { Lifecycle as LifecycleNode, LifecycleState as StateNode } from "../snapshot/types.js";
import type { Condition } from "./condition.js";
import { condition, nodeOf } from "./condition.js";
import { guarded } from "./guarded.js";
import type { Lazy } from "./lazy.js";
import { resolve } from "./lazy.js";
import { definitionOf } from "./model-error.js";
import type { Part } from "./part.js";
import { part } from "./part.js";
import { locatedAs } from "./site.js";

/** A state: the states it leads to with their conditions, tried in the order written; or an end, which nothing leaves. */
export type StateDefinition<Target extends string> =
  { to?: { [Name in Target]?: Lazy<Condition> }; terminal?: false } | { to?: never; terminal: true };

/** The lifecycle: where each customer stands, in exactly one state. */
export interface LifecycleModel<State extends string = string> extends AnyLifecycle {
  /** Holds while the customer is in this state. */
  is(state: State): Condition;
  /** Holds while the customer is in one of these states. */
  in(...states: State[]): Condition;
  /** Holds while the customer is not in this state. */
  isNot(state: State): Condition;
}

/** A lifecycle of any states. */
export type AnyLifecycle = Part<"lifecycle", LifecycleNode>;

/**
 * Declares the lifecycle. Each customer starts in `initial`; the first transition of the present state whose condition holds is taken,
 * then the new state's are tried. At one instant each state is entered at most once. Where two modules need each other, a condition may be
 * a function: `to: { at_risk: () => quiet.has() }`. No state may be called "created": every customer's first emission is
 * `customer.created`.
 */
export function lifecycle<State extends string>(definition: {
  initial: NoInfer<State>;
  states: { [Name in State]: StateDefinition<Exclude<NoInfer<State>, Name>> };
}): LifecycleModel<State> {
  const { initial, states } = definitionOf(definition, "lifecycle(…)", "initial and states");
  const isIn = (names: State[]) => condition({ kind: "lifecycle", states: names });
  const lower = (): LifecycleNode => ({
    initial,
    states: Object.entries<StateDefinition<string>>((states as typeof states | undefined) ?? {}).map(stateNode),
  });
  return guarded(
    {
      ...part("lifecycle", lower),
      is: (state: State) => isIn([state]),
      in: (...names: State[]) => isIn(names),
      isNot: (state: State) => condition({ kind: "not", condition: nodeOf(isIn([state])) }),
    },
    { owner: "the lifecycle" },
  );
}

function stateNode([name, state]: [string, StateDefinition<string>]): StateNode {
  const transitions = Object.entries(state.to ?? {}).map(([to, lazy]) => {
    const when = nodeOf(resolve(lazy));
    return locatedAs({ to, when }, when);
  });
  return state.terminal ? { name, terminal: true, transitions } : { name, transitions };
}
