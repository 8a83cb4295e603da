import type { Lifecycle as LifecycleNode, LifecycleState as StateNode } from "../model/snapshot/types.js";
import { type Condition, condition, type Duration, type Lazy, membership, nodeOf, resolve } from "./condition.js";
import { definitionOf, strictProxy } from "./mistakes.js";
import { type Part, part, trigger, type Trigger, withSourceLocationOf } from "./part.js";

/** Holds while no event of any kind has occurred for this long: from the last event + duration on. Without any event it counts from the
 * first evaluation. */
export function inactiveFor(duration: Duration): Condition {
  return condition({ kind: "inactiveFor", duration });
}

/** Holds while an event of any kind has occurred in the latest stretch of this length. It needs an event. */
export function activeWithin(duration: Duration): Condition {
  return condition({ kind: "activeWithin", duration });
}

/** The time in the present lifecycle state: `inState().atLeast("60d")`. */
export function inState(): { atLeast(duration: Duration): Condition } {
  return strictProxy(
    { atLeast: (duration: Duration) => condition({ kind: "inState", atLeast: duration }) },
    { owner: "the time in the state" },
  );
}

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
  /** For a rule's `on`: the customer enters this state. That every customer begins in the initial state is an entry, too. */
  entered(state: State): Trigger;
  /** For a rule's `on`: the customer leaves this state. */
  exited(state: State): Trigger;
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
  const lower = (): LifecycleNode => ({
    initial,
    states: Object.entries<StateDefinition<string>>((states as typeof states | undefined) ?? {}).map(stateNode),
  });
  return strictProxy(
    {
      ...part("lifecycle", lower),
      ...membership((names: State[]) => condition({ kind: "lifecycle", states: names })),
      entered: (state: State) => trigger({ kind: "stateEntered", state }),
      exited: (state: State) => trigger({ kind: "stateExited", state }),
    },
    { owner: "the lifecycle" },
  );
}

function stateNode([name, state]: [string, StateDefinition<string>]): StateNode {
  const transitions = Object.entries(state.to ?? {}).map(([to, lazy]) => {
    const when = nodeOf(resolve(lazy));
    return withSourceLocationOf({ to, when }, when);
  });
  return state.terminal ? { name, terminal: true, transitions } : { name, transitions };
}
