import type { Lifecycle, Segment } from "../snapshot/types.js";
import {
  LIFECYCLE_ITEM,
  segmentItem,
  type ConditionCompiler,
  type ConditionTest,
  type NextChange,
  type Reads,
} from "./conditions.js";
import type { Working } from "./working.js";

/** A part of a model with a value of its own, derived from operations, time and the values of other items. */
export interface Item {
  name: string;
  reads: Reads;
  /** Brings the value up to date at the customer's clock, adds the effects, and tells whether the value changed. */
  run(customer: Working): boolean;
  /** The earliest instant after the clock at which a condition consulted in the present state changes by time alone. */
  nextChange: NextChange;
}

interface CompiledState {
  transitions: { to: string; test: ConditionTest }[];
  nextChange: NextChange;
}

/** The lifecycle: one state, left by the first declared transition whose condition holds. */
export function compileLifecycleItem(lifecycle: Lifecycle, compiler: ConditionCompiler): Item {
  const states = new Map<string, CompiledState>();
  for (const state of lifecycle.states) {
    const changes: NextChange[] = [];
    const declared = state.terminal ? [] : state.transitions;
    const transitions = declared.map(({ to, when }) => ({ to, test: compiler.compile(when, changes) }));
    states.set(state.name, { transitions, nextChange: earliest(changes) });
  }
  return {
    name: LIFECYCLE_ITEM,
    reads: compiler.reads,
    run: (customer) => runLifecycle(customer, lifecycle.initial, states),
    nextChange: (customer) => states.get(customer.state!)?.nextChange(customer) ?? Infinity,
  };
}

/** A segment with a condition: its membership is whether the condition holds. */
export function compileSegmentItem(segment: Required<Segment>, index: number, compiler: ConditionCompiler): Item {
  const changes: NextChange[] = [];
  const test = compiler.compile(segment.when, changes);
  return {
    name: segmentItem(segment.id),
    reads: compiler.reads,
    run: (customer) => changeSegment(customer, segment.id, index, test(customer)),
    nextChange: earliest(changes),
  };
}

function runLifecycle(customer: Working, initial: string, states: ReadonlyMap<string, CompiledState>): boolean {
  let changed = false;
  if (customer.state === null) {
    enter(customer, null, initial);
    changed = true;
  }
  if (customer.blockedIn === customer.evaluation) return changed;
  for (;;) {
    // A state that the model no longer knows has no transitions.
    const transitions = states.get(customer.state!)?.transitions;
    const next = transitions?.find(({ test }) => test(customer));
    if (next === undefined) return changed;
    const from = customer.state!;
    if (wasHeld(customer, next.to)) {
      customer.blockedIn = customer.evaluation;
      customer.push({ kind: "blocked", from, to: next.to });
      return changed;
    }
    enter(customer, from, next.to);
    changed = true;
  }
}

/** Whether a state was held in this evaluation already; the one held at its beginning counts. */
function wasHeld(customer: Working, state: string): boolean {
  return customer.state === state || (customer.heldIn === customer.evaluation && customer.held.includes(state));
}

function enter(customer: Working, from: string | null, to: string): void {
  if (customer.heldIn !== customer.evaluation) {
    customer.held = [];
    customer.heldIn = customer.evaluation;
  }
  if (from !== null) customer.held.push(from);
  customer.enterState(to);
  customer.push({ kind: "transition", from, to });
  customer.push({
    kind: "emission",
    type: from === null ? "customer.created" : `customer.${to}`,
    source: "lifecycle",
    metadata: { previous_lifecycle: from, new_lifecycle: to },
  });
}

/** Makes the customer a member of a segment or not, and tells whether that is a change. */
function changeSegment(customer: Working, segment: string, index: number, member: boolean): boolean {
  const enteredAt = customer.enteredSegmentAt[index];
  if (member === (enteredAt !== undefined)) return false;
  customer.setSegment(index, member ? customer.clock : undefined);
  if (enteredAt === undefined) customer.push({ kind: "segmentEntered", segment });
  else customer.push({ kind: "segmentExited", segment, enteredAt });
  customer.push({
    kind: "emission",
    type: member ? "segment.entered" : "segment.exited",
    source: "segment",
    metadata: { segment },
  });
  return true;
}

function earliest(changes: NextChange[]): NextChange {
  if (changes.length === 0) return () => Infinity;
  if (changes.length === 1) return changes[0]!;
  return (customer) => {
    let next = Infinity;
    for (const change of changes) next = Math.min(next, change(customer));
    return next;
  };
}
