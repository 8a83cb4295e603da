import type { Lifecycle as LifecycleNode, Transition as TransitionNode } from "../model/snapshot/types.js";
import { type Condition, condition, type Duration, type Lazy, membership, nodeOf, resolve } from "./condition.js";
import { definitionOf, entriesOf, ModelError, ModelWarning, recordMistake, strictProxy } from "./mistakes.js";
import { type Part, part, trigger, type Trigger, withSourceLocationOf } from "./part.js";

/** Holds while no event of any kind has occurred for this long, that is, from the last event + duration on. Without any event it counts from
 * the first evaluation. */
export function inactiveFor(duration: Duration): Condition {
  return condition({ kind: "inactiveFor", duration });
}

/** Holds while the last event of any kind is less than this long ago. Without any event it does not hold. */
export function activeWithin(duration: Duration): Condition {
  return condition({ kind: "activeWithin", duration });
}

/** How long the customer has been in the current lifecycle state. */
export interface StateTime {
  atLeast(duration: Duration): Condition;
}

/** The time in the current lifecycle state: `inState().atLeast("60d")`. */
export function inState(): StateTime {
  return strictProxy(
    { atLeast: (duration: Duration) => condition({ kind: "inState", atLeast: duration }) },
    { owner: "the time in the state" },
  );
}

/** A state: its transitions (target states with conditions), tried in the order written; or a terminal state, which is never left. */
export type StateDefinition<Target extends string> =
  | { to?: { [Name in Target]?: Lazy<Condition> }; terminal?: false }
  | { to?: never; terminal: true };

/** Transitions from every state, tried in the order written, before the state's own. */
export interface AnyStateDefinition<State extends string> {
  /** Target states with conditions. There is no transition from the target itself, nor from a terminal state. */
  to: { [Name in State]?: Lazy<Condition> };
  /** The states from which none of these transitions leads. */
  except?: readonly State[];
}

/** The lifecycle: each customer is in exactly one of its states. */
export interface LifecycleModel<State extends string = string> extends AnyLifecycle {
  /** Holds while the customer is in this state. */
  is(state: State): Condition;
  /** Holds while the customer is in one of these states. */
  in(...states: State[]): Condition;
  /** Holds while the customer is not in this state. */
  isNot(state: State): Condition;
  /** For a rule's `on`: the customer enters this state. A new customer enters the initial state, too. */
  entered(state: State): Trigger;
  /** For a rule's `on`: the customer leaves this state. */
  exited(state: State): Trigger;
}

/** A lifecycle with any states. */
export type AnyLifecycle = Part<"lifecycle", LifecycleNode>;

/**
 * Declares the lifecycle. Each customer starts in `initial`; the first transition of the current state whose condition holds is taken, then
 * those of the new state are tried. At one instant each state is entered at most once. If two modules need each other, a condition can be a
 * function: `to: { active: () => loyal.has() }`. No state may be called "created": every customer's first emission is `customer.created`.
 * `anyState` holds transitions that would otherwise be repeated in every state, as its first ones.
 */
export function lifecycle<State extends string>(definition: {
  initial: NoInfer<State>;
  states: { [Name in State]: StateDefinition<Exclude<NoInfer<State>, Name>> };
  anyState?: AnyStateDefinition<NoInfer<State>>;
}): LifecycleModel<State> {
  const { initial, states, anyState } = definitionOf(definition, "lifecycle(…)", "initial and states");
  const given = entriesOf<StateDefinition<string> | null | undefined>(states);
  for (const [name, state] of given) checkTransitions(state, `the state ${JSON.stringify(name)}`);
  const declared = given.map(([name, state]): [string, StateDefinition<string>] => [name, state ?? {}]);
  if (anyState !== undefined) checkTransitions(anyState, '"anyState"');
  if (anyState) checkAnyState(anyState, declared);
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

/** Records what has no transitions at all, and transitions in a list, of which the snapshot would show the positions. */
function checkTransitions(source: { to?: object } | null | undefined, owner: string): void {
  if (source === null || source === undefined) {
    recordMistake(
      new ModelError("INVALID_SHAPE", `${owner} is ${source}, not an object`, "write { to: { … } }, or {}"),
    );
    return;
  }
  if (!isList(source.to)) return;
  const message = `the transitions of ${owner} are in a list, not in an object`;
  recordMistake(
    new ModelError("INVALID_SHAPE", message, "write to: { …: condition } with the states that they lead to"),
  );
}

function transitionNodes(to: Readonly<Record<string, Lazy<Condition> | undefined>> | undefined): TransitionNode[] {
  return entriesOf(isList(to) ? undefined : to).map(([target, lazy]) => {
    const when = nodeOf(resolve(lazy));
    return withSourceLocationOf({ to: target, when }, when);
  });
}

/** Records mistakes in `anyState`, such as parts that add nothing. The snapshot cannot show them: it has only the transitions of each state. */
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
  const sources = states.filter(([name, { terminal }]) => terminal !== true && !except.includes(name));
  // If there is a state from which they lead, the validation checks the targets in its transitions.
  const named = new Set(sources.length > 0 ? except : [...except, ...targets]);
  for (const state of named) {
    if (terminal.has(state)) continue;
    const misnamed = { name: state, candidates: [...terminal.keys()] };
    const message = `the lifecycle has no state ${JSON.stringify(state)}`;
    recordMistake(new ModelError("UNKNOWN_STATE", message, undefined, misnamed));
  }
  for (const state of new Set(except.filter((state) => terminal.has(state)))) {
    if (except.indexOf(state) !== except.lastIndexOf(state)) {
      warn(`"except" of "anyState" need not list the state ${JSON.stringify(state)} twice`);
    } else if (terminal.get(state)) {
      warn(`"except" of "anyState" need not list the state ${JSON.stringify(state)}, which is terminal`);
    } else if (targets.every((target) => target === state)) {
      warn(
        `"except" of "anyState" need not list the state ${JSON.stringify(state)}, the only one that "anyState" leads to`,
      );
    }
  }
  if (sources.some(([name]) => targets.some((target) => target !== name))) return;
  warn('"anyState" adds no transition: it leads from no state to another one');
}

function isList(value: unknown): value is readonly string[] {
  return Array.isArray(value);
}

function warn(message: string): void {
  recordMistake(new ModelWarning("POINTLESS_ANY_STATE", message));
}
