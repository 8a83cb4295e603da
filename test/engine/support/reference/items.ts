import { parseDuration } from "../../../../src/model/snapshot/duration.js";
import type { Health, Journey, Rule, Signal, Snapshot, Trigger } from "../../../../src/model/snapshot/types.js";
import type { Cause, Json, TrackOperation } from "../../../../src/engine/index.js";
import type { EffectBody, EmissionSource, HealthScore, JourneyRun, Order } from "../../../../src/engine/state/types.js";
import { holds } from "./conditions.js";
import { scored, selected, type Start } from "./facts.js";
import type { Customer } from "./customer.js";

const round = (value: number): number => Math.round(value * 100 + 1e-9) / 100;

/** One evaluation: its cause, and what has happened in it so far. */
export interface Evaluation {
  at: number;
  cause: Cause;
  operation: TrackOperation | null;
  /** The order of the operation, or of the last identify; null for a timer. */
  order: Order | null;
  /** The states that the customer has had at this instant. */
  held: Set<string>;
  isBlocked: boolean;
  startedJourneys: Set<string>;
  /** Triggers as rules name them, such as `segment.entered:<id>`. */
  happened: Set<string>;
  rulesRun: Set<string>;
  scoresHealth: boolean;
  note: (body: EffectBody) => void;
}

function emit({ note }: Evaluation, source: EmissionSource, type: string, metadata: Record<string, Json>): void {
  note({ kind: "emission", type, source, metadata });
}

export function runLifecycle(customer: Customer, evaluation: Evaluation): boolean {
  const { states, initial } = customer.snapshot.lifecycle!;
  const enter = (to: string): void => {
    const from = customer.lifecycle?.state ?? null;
    customer.lifecycle = { state: to, enteredAt: evaluation.at, cause: evaluation.order };
    evaluation.held.add(to);
    if (from !== null) evaluation.happened.add(`lifecycle.exited:${from}`);
    evaluation.happened.add(`lifecycle.entered:${to}`);
    evaluation.note({ kind: "transition", from, to });
    const metadata = { previous_lifecycle: from, new_lifecycle: to };
    emit(evaluation, "lifecycle", from === null ? "customer.created" : `customer.${to}`, metadata);
  };
  let changed = customer.lifecycle === null;
  if (changed) enter(initial);
  while (!evaluation.isBlocked) {
    const { state } = customer.lifecycle!;
    const definition = states.find(({ name }) => name === state);
    if (definition === undefined || definition.terminal) break;
    const next = definition.transitions.find(({ when }) => customer.holds(when));
    if (next === undefined) break;
    if (evaluation.held.has(next.to)) {
      evaluation.isBlocked = true;
      evaluation.note({ kind: "blocked", from: state, to: next.to });
    } else {
      enter(next.to);
      changed = true;
    }
  }
  return changed;
}

export function runJourney(customer: Customer, evaluation: Evaluation, journey: Journey): boolean {
  const expired = expire(customer, evaluation, journey);
  const started = start(customer, evaluation, journey);
  const stepped = takeSteps(customer, evaluation, journey);
  return expired || started || stepped;
}

function noteRun(evaluation: Evaluation, { id }: Journey, run: JourneyRun, what: string, more: { step?: string } = {}) {
  evaluation.note({ kind: "journey", journey: id, run: structuredClone(run) });
  evaluation.happened.add(`journey.${what}:${[id, ...Object.values(more)].join(".")}`);
  emit(evaluation, "journey", `journey.${what}`, { journey: id, ...more });
}

function expire(customer: Customer, evaluation: Evaluation, journey: Journey): boolean {
  const run = customer.journeys.get(journey.id);
  if (run?.status !== "active" || journey.expiresAfter === undefined) return false;
  if (evaluation.at < run.startedAt + parseDuration(journey.expiresAfter)) return false;
  // It is complete: another version had the steps that it waited for.
  if (journey.steps.every(({ id }) => Object.hasOwn(run.steps, id))) return false;
  Object.assign(run, { status: "expired", expiredAt: evaluation.at, endedBy: evaluation.order });
  noteRun(evaluation, journey, run, "expired");
  return true;
}

/** The start from which operations count for starting a journey; undefined if it cannot start. */
export function startScope(journey: Journey, run: JourneyRun | undefined): Start | undefined {
  if (run === undefined) return "ever";
  if (run.status === "active" || !journey.repeat) return undefined;
  return { at: (run.completedAt ?? run.expiredAt)!, by: run.endedBy, isForAll: true };
}

function start(customer: Customer, evaluation: Evaluation, journey: Journey): boolean {
  const last = customer.journeys.get(journey.id);
  const scope = startScope(journey, last);
  if (scope === undefined || !holds(customer, { condition: journey.start, start: scope }, evaluation.at)) return false;
  if (evaluation.startedJourneys.has(journey.id)) {
    customer.hasBlockedJourney = true;
    return false;
  }
  evaluation.startedJourneys.add(journey.id);
  const run: JourneyRun = {
    run: (last?.run ?? 0) + 1,
    status: "active",
    currentStep: journey.steps[0]!.id,
    startedAt: evaluation.at,
    startedBy: evaluation.order,
    steps: {},
    completedAt: null,
    expiredAt: null,
    endedBy: null,
  };
  customer.journeys.set(journey.id, run);
  noteRun(evaluation, journey, run, "started");
  return true;
}

/** The start from which operations count for a step without its own start. */
export function stepScope(journey: Journey, index: number, run: JourneyRun): Start {
  const previous = journey.steps[index - 1];
  if (journey.steps[index]!.since !== "previousStep" || previous === undefined) {
    return { at: run.startedAt, by: run.startedBy };
  }
  const completed = run.steps[previous.id];
  return completed === undefined ? "never" : { at: completed.completedAt, by: completed.by };
}

/** The first unfinished step; the last one if none is left. */
function currentStep({ steps }: Journey, run: JourneyRun): string {
  return (steps.find(({ id }) => !Object.hasOwn(run.steps, id)) ?? steps.at(-1)!).id;
}

function takeSteps(customer: Customer, evaluation: Evaluation, journey: Journey): boolean {
  const run = customer.journeys.get(journey.id);
  if (run?.status !== "active") return false;
  const { cause } = evaluation;
  let changed = false;
  for (const [index, step] of journey.steps.entries()) {
    if (Object.hasOwn(run.steps, step.id)) continue;
    const scope = { condition: step.when, start: stepScope(journey, index, run) };
    if (holds(customer, scope, evaluation.at)) {
      run.steps[step.id] = {
        completedAt: evaluation.at,
        triggeredBy: cause.kind === "event" ? cause.eventId : cause.kind,
        by: evaluation.order,
      };
      const known = journey.steps.flatMap(({ id }) => (Object.hasOwn(run.steps, id) ? [[id, run.steps[id]!]] : []));
      // Steps that another version knew come last.
      run.steps = { ...(Object.fromEntries(known) as typeof run.steps), ...run.steps };
      run.currentStep = currentStep(journey, run);
      noteRun(evaluation, journey, run, "step_completed", { step: step.id });
      changed = true;
    } else if (!journey.anyOrder) {
      break;
    }
  }
  // Another version may have had other steps before those that are left, or more of them.
  if (run.currentStep !== currentStep(journey, run)) {
    run.currentStep = currentStep(journey, run);
    evaluation.note({ kind: "journey", journey: journey.id, run: structuredClone(run) });
    changed = true;
  }
  if (journey.steps.every(({ id }) => Object.hasOwn(run.steps, id))) {
    Object.assign(run, { status: "complete", completedAt: evaluation.at, endedBy: evaluation.order });
    noteRun(evaluation, journey, run, "completed");
    changed = true;
  }
  return changed;
}

export function setMember(customer: Customer, evaluation: Evaluation, segment: string, member: boolean): boolean {
  const enteredAt = customer.segments.get(segment);
  if (member === (enteredAt !== undefined)) return false;
  if (enteredAt === undefined) {
    customer.segments.set(segment, evaluation.at);
    evaluation.note({ kind: "segmentEntered", segment });
  } else {
    customer.segments.delete(segment);
    evaluation.note({ kind: "segmentExited", segment, enteredAt });
  }
  const what = member ? "segment.entered" : "segment.exited";
  evaluation.happened.add(`${what}:${segment}`);
  emit(evaluation, "segment", what, { segment });
  return true;
}

/** The health of a customer at an instant, scored afresh. */
export function healthOf(customer: Customer, { components, bands }: Health, t: number): HealthScore | null {
  const known = components.flatMap((component) => {
    const score = scored(customer, component, t);
    return score === null ? [] : [{ ...component, score }];
  });
  const weights = known.reduce((sum, { weight }) => sum + weight, 0);
  if (weights === 0) return null;
  const overall = round(known.reduce((sum, { weight, score }) => sum + weight * score, 0) / weights);
  return {
    overall,
    components: Object.fromEntries(known.map(({ id, score }) => [id, round(score)])),
    band: bands.find(({ from }) => overall >= from)!.id,
  };
}

export function runHealth(customer: Customer, evaluation: Evaluation, definition: Health): boolean {
  if (!evaluation.scoresHealth) return false;
  const health = healthOf(customer, definition, evaluation.at);
  const before = customer.health;
  if (JSON.stringify(before) === JSON.stringify(health)) return false;
  customer.health = health;
  const change = health ?? { overall: null, components: {}, band: null };
  evaluation.note({ kind: "health", ...change });
  if (before?.band !== health?.band) {
    if (before !== null) evaluation.happened.add(`health.exited:${before.band}`);
    if (health !== null) evaluation.happened.add(`health.entered:${health.band}`);
    const metadata = { previous_band: before?.band ?? null, new_band: change.band, overall: change.overall };
    emit(evaluation, "health", "health.changed", metadata);
  }
  return true;
}

export function runRule(customer: Customer, evaluation: Evaluation, rule: Rule): boolean {
  const triggeredBy = triggerOf(customer.snapshot, evaluation, rule);
  if (triggeredBy === null || evaluation.rulesRun.has(rule.id)) return false;
  evaluation.rulesRun.add(rule.id);
  const result = resultOf(customer, evaluation, rule);
  const { kind, ...target } = rule.then;
  const action: Record<string, Json> =
    "type" in target ? { type: kind, eventType: target.type } : { type: kind, ...target };
  evaluation.note({ kind: "ruleExecuted", rule: rule.id, result, triggeredBy, conditions: {}, action, error: null });
  if (result !== "pass") return false;
  customer.passes.set(rule.id, evaluation.at);
  const { note } = evaluation;
  evaluation.note = (body) => note(body.kind === "emission" ? { ...body, byRule: true } : body);
  const changed = act(customer, evaluation, rule);
  evaluation.note = note;
  return changed;
}

function triggerOf(snapshot: Snapshot, { operation, cause, happened }: Evaluation, { on }: Rule): string | null {
  switch (on.kind) {
    case "event": {
      const facts = { snapshot, applied: operation === null ? [] : [operation] };
      return selected(facts, on.of).length > 0 ? `event:${on.of.event}` : null;
    }
    case "traitsChanged":
      return cause.kind === "identify" ? "traits" : null;
    default: {
      const trigger = awaited(on);
      return happened.has(trigger) ? trigger : null;
    }
  }
}

const AWAITED = {
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

/** The change of a model part that a rule waits for, as its runs name it. */
function awaited(on: Exclude<Trigger, { kind: "event" | "traitsChanged" }>): string {
  const { kind, ...named } = on;
  const names = "step" in named ? [named.journey, named.step] : Object.values(named);
  return `${AWAITED[kind]}:${names.join(".")}`;
}

function resultOf(customer: Customer, { at }: Evaluation, rule: Rule): "pass" | "fail" | "skip" {
  if (rule.when !== undefined && !customer.holds(rule.when)) return "fail";
  const passedAt = customer.passes.get(rule.id);
  if (passedAt === undefined) return "pass";
  if (rule.once) return "skip";
  return rule.cooldown !== undefined && at < passedAt + parseDuration(rule.cooldown) ? "skip" : "pass";
}

function act(customer: Customer, evaluation: Evaluation, { id, then }: Rule): boolean {
  switch (then.kind) {
    case "addToSegment":
    case "removeFromSegment":
      return setMember(customer, evaluation, then.segment, then.kind === "addToSegment");
    case "emit":
      emit(evaluation, "rule", then.type, { rule: id });
      return false;
    case "raiseSignal":
    case "clearSignal": {
      const signal = customer.snapshot.signals.find((one) => one.id === then.signal)!;
      return setSignal(customer, evaluation, signal, then.kind === "raiseSignal");
    }
  }
}

export function runSignal(customer: Customer, evaluation: Evaluation, signal: Signal): boolean {
  const raised = customer.signals.get(signal.id);
  if (signal.when !== undefined) {
    const isRaised = customer.holds(signal.when);
    return isRaised === (raised !== undefined) ? false : setSignal(customer, evaluation, signal, isRaised);
  }
  if (raised === undefined || signal.for === undefined) return false;
  if (evaluation.at < raised.renewedAt + parseDuration(signal.for)) return false;
  return setSignal(customer, evaluation, signal, false);
}

function setSignal(customer: Customer, evaluation: Evaluation, signal: Signal, raise: boolean): boolean {
  const before = customer.signals.get(signal.id);
  const { at } = evaluation;
  const { severity, message = null } = before ?? signal;
  if (raise) {
    customer.signals.set(signal.id, { raisedAt: before?.raisedAt ?? at, renewedAt: at, severity, message });
    if (before !== undefined) return false;
    evaluation.note({ kind: "signalRaised", signal: signal.id, severity, message });
  } else {
    if (before === undefined) return false;
    customer.signals.delete(signal.id);
    evaluation.note({ kind: "signalCleared", signal: signal.id, severity, message, raisedAt: before.raisedAt });
  }
  const what = raise ? "signal.raised" : "signal.cleared";
  evaluation.happened.add(`${what}:${signal.id}`);
  emit(evaluation, "signal", what, { signal: signal.id, severity, message });
  return true;
}
