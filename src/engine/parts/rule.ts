import { parseDuration } from "../../model/snapshot/duration.js";
import type { Rule, Trigger } from "../../model/snapshot/types.js";
import { HEALTH_ITEM, journeyItem, LIFECYCLE_ITEM, ruleItem, segmentItem, signalItem } from "../compile-context.js";
import type { ConditionCompiler } from "../conditions/conditions.js";
import { type CompiledCondition, NEVER } from "../conditions/leaf.js";
import type { DerivedPart, OpenCustomer, RuleOccasion } from "../open-customer.js";
import { HistoryNeeded } from "../state/history.js";
import type { Json, RuleResult } from "../state/types.js";
import { compileMessage } from "./message.js";
import { changeMembership } from "./segment.js";
import { clearSignal, raiseSignal } from "./signal.js";

type Test = (customer: OpenCustomer) => boolean;

/** A rule: runs once per evaluation in which its trigger occurs, and has no value that others could read. */
export function compileRuleItem(rule: Rule, index: number, compiler: ConditionCompiler): DerivedPart {
  const { occurs, name: triggeredBy } = compileTrigger(rule.on, compiler);
  const when = rule.when && compiler.compile(rule.when);
  const hasActed = compileRest(rule, index);
  // A signal that clears itself could otherwise be raised again by its own clearing, endlessly.
  const raises = rule.then.kind === "raiseSignal";
  const rests: Test = (customer) => hasActed(customer) || (raises && customer.isAtMoveLimit);
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
      // Recorded even without cooldown or `once`: another version may add one and needs to know.
      customer.setPassed(index);
      if (raises) customer.countMoveByTime();
      customer.isRuleActing = true;
      const changed = act(customer);
      customer.isRuleActing = false;
      return changed;
    },
    // The condition is consulted only at the trigger, so its changes by time alone make nothing due.
    nextChange: NEVER,
    explain: (customer) => ({ rule: rule.id, condition: when === undefined ? null : when.explain(customer) }),
  };
}

interface Outcome {
  result: RuleResult;
  conditions: Record<string, Json>;
  error: string | null;
}

/** The condition is tested first, so that `skip` means that the rule would have acted. */
function decide(customer: OpenCustomer, when: CompiledCondition | undefined, rests: Test): Outcome {
  try {
    const conditions = when === undefined ? {} : when.explain(customer);
    const met = when === undefined || when.test(customer);
    return { result: !met ? "fail" : rests(customer) ? "skip" : "pass", conditions, error: null };
  } catch (error) {
    // Missing history can be fetched; any other error concerns this rule alone.
    if (error instanceof HistoryNeeded) throw error;
    return { result: "error", conditions: {}, error: String(error) };
  }
}

type Awaited = Exclude<Trigger, { kind: "event" | "traitsChanged" }>;

/** The occasions that rules wait for, by kind of trigger. */
export const OCCASIONS: Readonly<Record<Awaited["kind"], RuleOccasion>> = {
  stateEntered: "lifecycle.entered",
  stateExited: "lifecycle.exited",
  journeyStarted: "journey.started",
  journeyStepCompleted: "journey.step_completed",
  journeyCompleted: "journey.completed",
  journeyExpired: "journey.expired",
  segmentEntered: "segment.entered",
  segmentExited: "segment.exited",
  bandEntered: "health.entered",
  bandExited: "health.exited",
  signalRaised: "signal.raised",
  signalCleared: "signal.cleared",
};

/** The item that an occasion concerns, and its id in the log. */
function partOf(on: Awaited): { item: string; id: string } {
  if ("state" in on) return { item: LIFECYCLE_ITEM, id: on.state };
  if ("step" in on) return { item: journeyItem(on.journey), id: `${on.journey}.${on.step}` };
  if ("journey" in on) return { item: journeyItem(on.journey), id: on.journey };
  if ("band" in on) return { item: HEALTH_ITEM, id: on.band };
  return "segment" in on
    ? { item: segmentItem(on.segment), id: on.segment }
    : { item: signalItem(on.signal), id: on.signal };
}

/** Compiles a trigger: whether it occurs, and its name in the log. */
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
  const { item, id } = partOf(on);
  // Waiting for a band does not count as reading the health: that would score it at every instant (see `Model.readers`).
  if (item !== HEALTH_ITEM) reads.items.add(item);
  const what = OCCASIONS[on.kind];
  const occurs: Test = (customer) => customer.happenedIn.get(what)!.get(id) === customer.evaluation;
  return { occurs, name: `${what}:${id}` };
}

/** Whether the rule has acted and must not act again yet: a cooldown covers [pass, pass + d). */
function compileRest({ cooldown, once }: Rule, index: number): Test {
  if (once) return (customer) => customer.passedAt[index] !== undefined;
  if (cooldown === undefined) return () => false;
  const duration = parseDuration(cooldown);
  return (customer) => customer.clock < (customer.passedAt[index] ?? -Infinity) + duration;
}

interface CompiledAction {
  /** Carries out the action and returns whether it changed a value that others may read. */
  act: Test;
  /** The action as the log shows it. */
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
