import type { Changes, Part } from "./change.js";
import { asFlag, compareMembers, member, same } from "./change.js";
import { compareConditions } from "./compare-conditions.js";
import { compareKeyed, compareOrder, keyedItems, type Keyed } from "./compare-lists.js";
import type { Placed } from "./list.js";
import type { Lifecycle, LifecycleState, Transition } from "./types.js";
import { conditionText } from "./words.js";

export function compareLifecycles(
  before: Placed<Lifecycle> | undefined,
  after: Placed<Lifecycle> | undefined,
  changes: Changes,
): void {
  compareInitial(before, after, changes);
  const [was, is] = [statesOf(before), statesOf(after)];
  const compare = (part: Part, former: Placed<LifecycleState>, present: Placed<LifecycleState>): void =>
    compareState(part, former, present, changes);
  compareKeyed(was, is, { part: (id) => ({ subject: "state", id }), text: stateText, compare }, changes);
  const states = { part: { subject: "setting", id: "states" }, path: "lifecycle.states", what: "states" } as const;
  compareOrder(was, is, states, changes);
}

function compareInitial(
  before: Placed<Lifecycle> | undefined,
  after: Placed<Lifecycle> | undefined,
  changes: Changes,
): void {
  const part = { subject: "setting", id: "initial" } as const;
  const [was, is] = [before && member(before, "initial"), after && member(after, "initial")];
  if (was === undefined && is !== undefined) changes.added(part, is, `initial state: ${is.item}`);
  else if (was !== undefined && is === undefined) changes.removed(part, was, `initial state: ${was.item}`);
  else if (!same(was?.item, is?.item)) changes.changed(part, was, is, `initial state: ${was!.item} → ${is!.item}`);
}

function statesOf(lifecycle: Placed<Lifecycle> | undefined): Keyed<LifecycleState>[] {
  const states = lifecycle && member(lifecycle, "states");
  return states === undefined ? [] : keyedItems(states, ({ name }) => name);
}

function compareState(
  part: Part,
  before: Placed<LifecycleState>,
  after: Placed<LifecycleState>,
  changes: Changes,
): void {
  compareMembers(before, after, {
    name: null,
    terminal: asFlag(changes, part, "terminal"),
    transitions: (was, is) => compareTransitions(part, was!, is!, changes),
  });
}

function compareTransitions(
  state: Part,
  before: Placed<Transition[]>,
  after: Placed<Transition[]>,
  changes: Changes,
): void {
  const [was, is] = [keyedItems(before, ({ to }) => to), keyedItems(after, ({ to }) => to)];
  const compare = (part: Part, older: Placed<Transition>, newer: Placed<Transition>): void =>
    compareMembers(older, newer, {
      to: null,
      when: (former, present) => compareConditions(part, "when", former, present, changes),
    });
  const part = (to: string): Part => ({ subject: "transition", id: `${state.id} → ${to}` });
  compareKeyed(was, is, { part, text: ({ when }) => conditionText(when), compare }, changes);
  compareOrder(was, is, { part: state, path: after.path, what: "transitions are tried" }, changes);
}

function stateText({ terminal, transitions }: LifecycleState): string {
  if (transitions.length === 0) return terminal === true ? "terminal" : "without transitions";
  return `to ${transitions.map(({ to }) => to).join(", ")}`;
}
