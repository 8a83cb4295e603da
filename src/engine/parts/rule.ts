import { parseDuration } from "../../model/snapshot/duration.js";
import type { Rule, Trigger } from "../../model/snapshot/types.js";
import { ruleItem, segmentItem, signalItem } from "../compile-context.js";
import type { ConditionCompiler } from "../conditions/conditions.js";
import { type CompiledCondition, NEVER } from "../conditions/leaf.js";
import type { DerivedPart, OpenCustomer } from "../open-customer.js";
import { HistoryNeeded } from "../state/history.js";
import type { Json, RuleResult } from "../state/types.js";
import { compileMessage } from "./message.js";
import { changeMembership } from "./segment.js";
import { clearSignal, raiseSignal } from "./signal.js";

type Test = (customer: OpenCustomer) => boolean;

/** A rule: runs once per evaluation in which its trigger occurs, and has no value of its own that others could read. */
export function compileRuleItem(rule: Rule, index: number, compiler: ConditionCompiler): DerivedPart {
  const { occurs, name: triggeredBy } = compileTrigger(rule.on, compiler);
  const when = rule.when && compiler.compile(rule.when);
  const hasActed = compileRest(rule, index);
  // A signal that clears itself may be raised again by its own end, for ever.
  const raises = rule.then.kind === "raiseSignal";
  const rests: Test = (customer) => hasActed(customer) || (raises && customer.restsUntilOperation);
  const { act, record: action } = compileAction(rule, compiler);

  return {
    name: ruleItem(rule.id),
    reads: compiler.reads,
    run(customer) {
      if (customer.ruleRanIn[index] === customer.evaluation || !occurs(customer)) return false;
      customer.ruleRanIn[index] = customer.evaluation;
      const { result, conditions, error } = decide(customer, when, rests);
      customer.push({ kind: "ruleExecuted", rule: rule.id, result, triggeredBy, conditions, action, error });
      if (result !== "pass") return false;
      // Also of a rule that does not rest: another version may have it rest, and is to know.
      customer.setPassed(index);
      if (raises) customer.noteMove();
      customer.ruleActs = true;
      const changed = act(customer);
      customer.ruleActs = false;
      return changed;
    },
    // The condition is consulted at the trigger only, so its changes by time alone make nothing due.
    nextChange: NEVER,
    explain: (customer) => ({ rule: rule.id, condition: when === undefined ? null : when.explain(customer) }),
  };
}

interface Outcome {
  result: RuleResult;
  conditions: Record<string, Json>;
  error: string | null;
}

/** The condition is tried first, so that `skip` means that the rule would have acted. */
function decide(customer: OpenCustomer, when: CompiledCondition | undefined, rests: Test): Outcome {
  try {
    const conditions = when === undefined ? {} : when.explain(customer);
    const met = when === undefined || when.test(customer);
    return { result: !met ? "fail" : rests(customer) ? "skip" : "pass", conditions, error: null };
  } catch (error) {
    // What is missing can be fetched; anything else is a fault of this rule alone.
    if (error instanceof HistoryNeeded) throw error;
    return { result: "error", conditions: {}, error: String(error) };
  }
}

/** Where a customer keeps when something happened, and its name in the log. */
const TURNS = {
  segmentEntered: ["segmentEnteredIn", "segment.entered"],
  segmentExited: ["segmentExitedIn", "segment.exited"],
  signalRaised: ["signalRaisedIn", "signal.raised"],
  signalCleared: ["signalClearedIn", "signal.cleared"],
} as const;

/** What a rule waits for, and its name in the log. */
function compileTrigger(on: Trigger, { reads, model }: ConditionCompiler): { occurs: Test; name: string } {
  if (on.kind === "event") {
    const { event } = on.of;
    const matches = model.registry.where(on.of);
    const occurs: Test = ({ operation }) =>
      operation !== null && operation.event === event && (matches === null || matches(operation.properties));
    return { occurs, name: `event:${event}` };
  }
  if (on.kind === "traitsChanged") {
    return { occurs: (customer) => customer.operation === null && customer.causeKind === "identify", name: "traits" };
  }
  const isSegment = "segment" in on;
  const id = isSegment ? on.segment : on.signal;
  reads.items.add(isSegment ? segmentItem(id) : signalItem(id));
  const index = (isSegment ? model.segmentIndex : model.signalIndex).get(id) ?? -1;
  const [happenedIn, name] = TURNS[on.kind];
  return { occurs: (customer) => customer[happenedIn][index] === customer.evaluation, name: `${name}:${id}` };
}

/** Whether the rule has acted and does not act again yet: a cooldown lasts [pass, pass + d). */
function compileRest({ cooldown, once }: Rule, index: number): Test {
  if (once) return (customer) => customer.passedAt[index] !== undefined;
  if (cooldown === undefined) return () => false;
  const duration = parseDuration(cooldown);
  return (customer) => customer.clock < (customer.passedAt[index] ?? -Infinity) + duration;
}

interface CompiledAction {
  /** Carries the action out, and tells whether it changed a value that others may read. */
  act: Test;
  /** As the log shows it. */
  record: Record<string, Json>;
}

function compileAction({ id, then }: Rule, { model }: ConditionCompiler): CompiledAction {
  if (then.kind === "emit") {
    const message = then.message === undefined ? undefined : compileMessage(then.message, model.snapshot);
    const act: Test = (customer) => {
      customer.emit(then.type, "rule", { rule: id, ...(message && { message: message(customer) }) });
      return false;
    };
    return { act, record: { type: then.kind, eventType: then.type } };
  }
  if ("segment" in then) {
    const { kind: type, segment } = then;
    const index = model.segmentIndex.get(segment)!;
    const member = type === "addToSegment";
    return { act: (customer) => changeMembership(customer, index, member), record: { type, segment } };
  }
  const { kind: type, signal } = then;
  const index = model.signalIndex.get(signal)!;
  const change = type === "raiseSignal" ? raiseSignal : clearSignal;
  return { act: (customer) => change(customer, index), record: { type, signal } };
}
