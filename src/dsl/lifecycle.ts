import type { LifecycleState as StateNode } from "../snapshot/types.js";
import type { Condition, Lazy } from "./condition.js";
import { condition, nodeOf } from "./condition.js";
import { located } from "./site.js";

/** A state: the states it leads to with their conditions, tried in the order written; or an end, which nothing leaves. */
export type StateDefinition<Target extends string> =
  { to?: { [Name in Target]?: Lazy<Condition> }; terminal?: false } | { to?: never; terminal: true };

/** The lifecycle: where each customer stands, in exactly one state. */
export interface LifecycleModel<State extends string = string> {
  readonly initial: State;
  /** The snapshot's part. It is made when it is asked for, because conditions may be given as functions. */
  readonly lower: () => { initial: string; states: StateNode[] };
  /** Holds while the customer is in this state. */
  is(state: State): Condition;
  /** Holds while the customer is in one of these states. */
  in(...states: State[]): Condition;
  /** Holds while the customer is not in this state. */
  isNot(state: State): Condition;
}

/** A lifecycle of any states. */
export type AnyLifecycle = Pick<LifecycleModel, "lower">;

/**
 * Declares the lifecycle. Each customer starts in `initial`; the first transition of the present state whose condition holds is taken,
 * then the new state's are tried. No state may be called "created": every customer's first emission is `customer.created`.
 */
export function lifecycle<State extends string>(definition: {
  initial: NoInfer<State>;
  states: { [Name in State]: StateDefinition<Exclude<NoInfer<State>, Name>> };
}): LifecycleModel<State> {
  const isIn = (states: State[]) => condition({ kind: "lifecycle", states });
  const model: LifecycleModel<State> = {
    initial: definition.initial,
    lower: () => ({
      initial: definition.initial,
      states: Object.entries<StateDefinition<string>>(definition.states).map(([name, state]) => stateNode(name, state)),
    }),
    is: (state) => isIn([state]),
    in: (...states) => isIn(states),
    isNot: (state) => condition({ kind: "not", condition: nodeOf(isIn([state])) }),
  };
  return located(model);
}

function stateNode(name: string, state: StateDefinition<string>): StateNode {
  const transitions = Object.entries(state.to ?? {}).map(([to, when]) => ({ to, when: nodeOf(resolve(when)) }));
  return state.terminal ? { name, terminal: true, transitions } : { name, transitions };
}

/** What a lazy value stands for. */
export function resolve(value: Lazy<Condition> | undefined): Condition {
  // An absent condition is carried on, for the validation to report.
  return (typeof value === "function" ? value() : value) as Condition;
}
