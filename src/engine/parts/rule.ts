import { parseDuration } from "../../model/snapshot/duration.js";
import type { Action, Rule, Trigger } from "../../model/snapshot/types.js";
import type { ConditionCompiler } from "../conditions/conditions.js";
import type { CompiledCondition } from "../conditions/leaf.js";
import { ruleItem, segmentItem, signalItem } from "../compile-context.js";
import type { DerivedPart, EvaluationContext } from "../evaluation-context.js";
import type { AggregateRegistry } from "../model/registry.js";
import { HistoryNeeded } from "../state/history.js";
import type { Json, RuleResult } from "../state/types.js";
import { changeMembership } from "./segment.js";
import { clearSignal, raiseSignal } from "./signal.js";

/** What a rule refers to, by position in the model. */
export interface RuleContext {
  registry: AggregateRegistry;
  segmentIndex: ReadonlyMap<string, number>;
  signalIndex: ReadonlyMap<string, number>;
}

type Triggered = (customer: EvaluationContext) => boolean;

/** A rule: runs once per evaluation in which its trigger occurs, and has no value of its own that others could read. */
export function compileRuleItem(
  rule: Rule,
  index: number,
  compiler: ConditionCompiler,
  context: RuleContext,
): DerivedPart {
  const name = ruleItem(rule.id);
  const triggered = compileTrigger(rule.on, compiler, context);
  const triggeredBy = triggerName(rule.on);
  // Consulted at the trigger only, so its changes by time alone make nothing due.
  const when = rule.when === undefined ? null : compiler.compile(rule.when, []);
  const rests = compileRest(rule, index);
  // A signal that clears itself may be raised again by its own end, for ever.
  const raises = rule.then.kind === "raiseSignal";
  const act = compileAction(rule, context);
  const action = actionRecord(rule.then);
  const keepsPass = rule.cooldown !== undefined || rule.once === true;

  const log = (
    customer: EvaluationContext,
    result: RuleResult,
    conditions: Record<string, Json>,
    error: string | null,
  ): void => customer.push({ kind: "ruleExecuted", rule: rule.id, result, triggeredBy, conditions, action, error });

  return {
    name,
    reads: compiler.reads,
    run(customer) {
      if (customer.ruleRanIn[index] === customer.evaluation || !triggered(customer)) return false;
      customer.ruleRanIn[index] = customer.evaluation;
      const outcome = decide(customer, when, (of) => rests(of) || (raises && of.restsUntilOperation));
      log(customer, outcome.result, outcome.conditions, outcome.error);
      if (outcome.result !== "pass") return false;
      if (keepsPass) customer.setPassed(index);
      if (raises) customer.noteMove();
      return act(customer);
    },
    nextChange: () => Infinity,
    explain: (customer) => ({
      rule: rule.id,
      condition: when === null ? null : when.explain(customer),
    }),
  };
}

interface Outcome {
  result: RuleResult;
  conditions: Record<string, Json>;
  error: string | null;
}

/** The condition is tried first, so that `skip` means that the rule would have acted. */
function decide(customer: EvaluationContext, when: CompiledCondition | null, rests: Triggered): Outcome {
  try {
    const conditions = when === null ? {} : when.explain(customer);
    const met = when === null || when.test(customer);
    return { result: !met ? "fail" : rests(customer) ? "skip" : "pass", conditions, error: null };
  } catch (error) {
    // What is missing can be fetched; anything else is a fault of this rule alone.
    if (error instanceof HistoryNeeded) throw error;
    return { result: "error", conditions: {}, error: String(error) };
  }
}

function compileTrigger(on: Trigger, { reads }: ConditionCompiler, context: RuleContext): Triggered {
  switch (on.kind) {
    case "event": {
      const { event } = on.of;
      const matches = context.registry.where(on.of);
      return ({ operation }) =>
        operation !== null && operation.event === event && (matches === null || matches(operation.properties));
    }
    case "traitsChanged":
      return (customer) => customer.operation === null && customer.causeKind === "identify";
    case "segmentEntered":
    case "segmentExited": {
      reads.items.add(segmentItem(on.segment));
      const index = context.segmentIndex.get(on.segment) ?? -1;
      return on.kind === "segmentEntered"
        ? (customer) => customer.segmentEnteredIn[index] === customer.evaluation
        : (customer) => customer.segmentExitedIn[index] === customer.evaluation;
    }
    case "signalRaised":
    case "signalCleared": {
      reads.items.add(signalItem(on.signal));
      const index = context.signalIndex.get(on.signal) ?? -1;
      return on.kind === "signalRaised"
        ? (customer) => customer.signalRaisedIn[index] === customer.evaluation
        : (customer) => customer.signalClearedIn[index] === customer.evaluation;
    }
  }
}

function triggerName(on: Trigger): string {
  switch (on.kind) {
    case "event":
      return `event:${on.of.event}`;
    case "traitsChanged":
      return "traits";
    case "segmentEntered":
      return `segment.entered:${on.segment}`;
    case "segmentExited":
      return `segment.exited:${on.segment}`;
    case "signalRaised":
      return `signal.raised:${on.signal}`;
    case "signalCleared":
      return `signal.cleared:${on.signal}`;
  }
}

/** Whether the rule has acted and does not act again yet: a cooldown lasts [pass, pass + d). */
function compileRest({ cooldown, once }: Rule, index: number): Triggered {
  if (once) return (customer) => customer.passedAt[index] !== undefined;
  if (cooldown === undefined) return () => false;
  const duration = parseDuration(cooldown);
  return (customer) => {
    const passedAt = customer.passedAt[index];
    return passedAt !== undefined && customer.clock < passedAt + duration;
  };
}

/** Carries the action out, and tells whether it changed a value that others may read. */
function compileAction({ id, then }: Rule, context: RuleContext): (customer: EvaluationContext) => boolean {
  switch (then.kind) {
    case "addToSegment":
    case "removeFromSegment": {
      const index = context.segmentIndex.get(then.segment)!;
      const member = then.kind === "addToSegment";
      return (customer) => changeMembership(customer, index, member);
    }
    case "emit":
      return (customer) => {
        customer.emit(then.type, "rule", { rule: id });
        return false;
      };
    case "raiseSignal":
    case "clearSignal": {
      const index = context.signalIndex.get(then.signal)!;
      const change = then.kind === "raiseSignal" ? raiseSignal : clearSignal;
      return (customer) => change(customer, index);
    }
  }
}

function actionRecord(then: Action): Record<string, Json> {
  switch (then.kind) {
    case "emit":
      return { type: then.kind, eventType: then.type };
    case "raiseSignal":
    case "clearSignal":
      return { type: then.kind, signal: then.signal };
    default:
      return { type: then.kind, segment: then.segment };
  }
}
