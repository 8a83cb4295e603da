import { LIMITS } from "../snapshot/limits.js";
import { type ReadList, readList } from "../snapshot/list.js";
import { at, list, type Problems, quote } from "../snapshot/problem.js";
import { checkDuration, checkSegment, checkSignal, type Scope } from "./scope.js";
import { ACTIONS, choose, RULE, TRIGGERS } from "./shapes.js";
import type { Action, Rule, Trigger } from "../snapshot/types.js";
import { checkCondition } from "./condition.js";
import { checkSelector } from "./property.js";

/** Reads the rules, and reports what is wrong with their shapes and ids. */
export function readRules(values: unknown[], problems: Problems): ReadList<Rule> {
  const options = { shape: RULE, most: LIMITS.rules, noun: "rule", duplicate: "DUPLICATE_RULE" } as const;
  return readList<Rule>(values, "rules", options, problems);
}

export function checkRules({ items }: ReadList<Rule>, scope: Scope): void {
  for (const { item: rule, path } of items) {
    checkTrigger(rule.on, at(path, "on"), scope);
    if (rule.when !== undefined) checkCondition(rule.when, at(path, "when"), scope);
    if (rule.cooldown !== undefined) checkDuration(rule.cooldown, at(path, "cooldown"), scope.problems);
    if (rule.cooldown !== undefined && rule.once) {
      const message = `a rule that acts once has nothing to wait for: it has a cooldown or "once", not both`;
      scope.problems.add(at(path, "cooldown"), "INVALID_SHAPE", message);
    }
    checkAction(rule.then, at(path, "then"), scope);
  }
}

function checkTrigger(value: unknown, path: string, scope: Scope): void {
  if (!choose(TRIGGERS, "kind", value, path, scope.problems)) return;
  const trigger = value as Trigger;
  switch (trigger.kind) {
    case "event":
      checkSelector(trigger.of, at(path, "of"), scope, 0);
      break;
    case "segmentEntered":
    case "segmentExited":
      checkSegment(trigger.segment, at(path, "segment"), scope);
      break;
    case "signalRaised":
    case "signalCleared":
      checkSignal(trigger.signal, at(path, "signal"), scope);
      break;
    case "traitsChanged":
      break;
  }
}

function checkAction(value: unknown, path: string, scope: Scope): void {
  if (!choose(ACTIONS, "kind", value, path, scope.problems)) return;
  const action = value as Action;
  switch (action.kind) {
    case "emit":
      checkEmissionType(action.type, at(path, "type"), scope.problems);
      break;
    case "addToSegment":
    case "removeFromSegment": {
      const place = at(path, "segment");
      checkSegment(action.segment, place, scope);
      if (!scope.segments?.get(action.segment)) break;
      const message = `the condition of the segment ${quote(action.segment)} decides who is in it; a rule changes segments without one`;
      scope.problems.add(place, "SEGMENT_HAS_CONDITION", message);
      break;
    }
    case "raiseSignal":
    case "clearSignal": {
      const place = at(path, "signal");
      checkSignal(action.signal, place, scope);
      if (!scope.signals?.get(action.signal)) break;
      const message = `the condition of the signal ${quote(action.signal)} raises and clears it; a rule does so with signals without one`;
      scope.problems.add(place, "SIGNAL_HAS_CONDITION", message);
      break;
    }
  }
}

const EMISSION_TYPE = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+$/;

/** The families of what the service emits of itself: a receiver must be able to tell the two apart. */
const RESERVED_FAMILIES = ["customer", "journey", "segment", "health", "signal"];

function checkEmissionType(type: string, path: string, problems: Problems): void {
  if (type.length > LIMITS.nameLength || !EMISSION_TYPE.test(type)) {
    const message = `${quote(type)} is no event type: write at least two lower-case names with a dot between them, such as "upsell.ready", in at most ${LIMITS.nameLength} characters`;
    problems.add(path, "INVALID_NAME", message);
  } else if (RESERVED_FAMILIES.includes(type.slice(0, type.indexOf(".")))) {
    const message = `event types that begin with ${list(RESERVED_FAMILIES)} are what the service emits of itself`;
    problems.add(path, "RESERVED_NAME", message);
  }
}
