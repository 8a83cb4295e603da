import type { Lifecycle as LifecycleNode, Transition as TransitionNode } from "../model/snapshot/types.js";
import { type Condition, condition, type Duration, type Lazy, membership, nodeOf, resolve } from "./condition.js";
import { definitionOf, entriesOf, ModelError, ModelWarning, recordMistake, strictProxy } from "./mistakes.js";
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

/** How long the customer has been in the present lifecycle state. */
export interface StateTime {
  atLeast(duration: Duration): Condition;
}

/** The time in the present lifecycle state: `inState().atLeast("60d")`. */
export function inState(): StateTime {
  return strictProxy(
    { atLeast: (duration: Duration) => condition({ kind: "inState", atLeast: duration }) },
    { owner: "the time in the state" },
  );
}

/** A state: the states it leads to with their conditions, tried in the order written; or an end, which nothing leaves. */
export type StateDefinition<Target extends string> =
  | { to?: { [Name in Target]?: Lazy<Condition> }; terminal?: false }
  | { to?: never; terminal: true };

/** Transitions from every state, tried in the order written, before those that the state has itself. */
export interface AnyStateDefinition<State extends string> {
  /** Where they lead, with their conditions. From the target itself there is none, nor from a terminal state. */
  to: { [Name in State]?: Lazy<Condition> };
  /** The states that none of them leaves. */
  except?: readonly State[];
}

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
 * `customer.created`. `anyState` stands for transitions that would be written in every state, as its first ones.
 */
export function lifecycle<State extends string>(definition: {
  initial: NoInfer<State>;
  states: { [Name in State]: StateDefinition<Exclude<NoInfer<State>, Name>> };
  anyState?: AnyStateDefinition<NoInfer<State>>;
}): LifecycleModel<State> {
  const { initial, states, anyState } = definitionOf(definition, "lifecycle(…)", "initial and states");
  const declared = entriesOf<StateDefinition<string>>(states);
  if (anyState !== undefined) checkAnyState(anyState, declared);
  const lower = (): LifecycleNode => {
    const shared = transitionNodes(anyState?.to);
    const excepted: readonly string[] = isList(anyState?.except) ? anyState.except : [];
    return {
      initial,
      states: declared.map(([name, state]) => {
        const transitions = transitionNodes(state.to);
        if (state.terminal) return { name, terminal: true, transitions };
        const isExcepted = excepted.includes(name);
        return { name, transitions: [...(isExcepted ? [] : shared.filter(({ to }) => to !== name)), ...transitions] };
      }),
    };
  };
  return strictProxy(
    {
      ...part("lifecycle", lower, ""),
      ...membership((names: State[]) => condition({ kind: "lifecycle", states: names })),
      entered: (state: State) => trigger({ kind: "stateEntered", state }),
      exited: (state: State) => trigger({ kind: "stateExited", state }),
    },
    { owner: "the lifecycle" },
  );
}

function transitionNodes(to: Readonly<Record<string, Lazy<Condition> | undefined>> | undefined): TransitionNode[] {
  return entriesOf(to).map(([target, lazy]) => {
    const when = nodeOf(resolve(lazy));
    return withSourceLocationOf({ to: target, when }, when);
  });
}

/** Records what of `anyState` adds nothing: the snapshot has the transitions of each state, and does not tell where they were written. */
function checkAnyState(
  { to = {}, except = [] }: Partial<AnyStateDefinition<string>>,
  states: readonly [name: string, state: StateDefinition<string>][],
): void {
  if (!isList(except)) {
    recordMistake(
      new ModelError("INVALID_SHAPE", '"except" of "anyState" must be a list of states', 'write except: ["…"]'),
    );
    return;
  }
  const targets = Object.keys(to);
  const terminal = new Map(states.map(([name, state]) => [name, state.terminal === true]));
  const left = states.filter(([name, { terminal }]) => terminal !== true && !except.includes(name));
  // Where a state is left that they lead from, the validation finds the targets in its transitions.
  const named = new Set(left.length > 0 ? except : [...except, ...targets]);
  for (const state of named) {
    if (terminal.has(state)) continue;
    const misnamed = { name: state, candidates: [...terminal.keys()] };
    const message = `the lifecycle has no state ${JSON.stringify(state)}`;
    recordMistake(new ModelError("UNKNOWN_STATE", message, undefined, misnamed));
  }
  for (const state of new Set(except.filter((state) => terminal.has(state)))) {
    if (except.indexOf(state) !== except.lastIndexOf(state)) {
      warn(`"anyState" need not except the state ${JSON.stringify(state)} twice`);
    } else if (terminal.get(state)) {
      warn(`"anyState" need not except the state ${JSON.stringify(state)}, which is terminal`);
    } else if (targets.every((target) => target === state)) {
      warn(`"anyState" need not except the state ${JSON.stringify(state)}, the only one that it leads to`);
    }
  }
  if (left.some(([name]) => targets.some((target) => target !== name))) return;
  warn('"anyState" adds no transition: there is no state that it leads from to another one');
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

function warn(message: string): void {
  recordMistake(new ModelWarning("POINTLESS_ANY_STATE", message));
}
