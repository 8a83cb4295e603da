/** The parts of a model. All of them are read first, so that conditions can be checked against them. */
import Type from "typebox";
import { Compile } from "typebox/compile";
import { LIMITS } from "../snapshot/limits.js";
import { messageParts } from "../snapshot/message.js";
import { at, list, type Placed, type Problems, quote } from "../snapshot/problem.js";
import type * as Node from "../snapshot/types.js";
import { checkChoice, checkCondition, checkMeasure, checkSelector, traitOfType } from "./conditions.js";
import { neverMet } from "./impossible.js";
import type { ReadList, Scope } from "./scope.js";
import {
  checkDuration,
  checkIdentifier,
  checkName,
  limit,
  readParts,
  checkReference,
  requireHealth,
  requireLifecycle,
} from "./scope.js";
import {
  ACTIONS,
  choose,
  DISPLAY,
  EVENT,
  FIELDS,
  fits,
  HEALTH,
  LIFECYCLE,
  SCORES,
  STATE,
  TRACKING,
  TRANSITION,
  TRIGGERS,
} from "./shapes.js";

/** Reads the declared events with their properties, and reports their problems. */
export function readEvents(events: Record<string, unknown>, problems: Problems): Scope["events"] {
  limit(Object.keys(events).length, LIMITS.events, "events", problems);
  const read: Scope["events"] = new Map();
  for (const [name, event] of Object.entries(events)) {
    const path = at("events", name);
    checkName(name, path, problems);
    const isValid = fits(EVENT, event, path, problems);
    const fields = isValid ? (event as Node.EventSchema).properties : undefined;
    read.set(name, fields && readFields(fields, at(path, "properties"), LIMITS.properties, problems));
  }
  return read;
}

/** Reads declared properties or traits; the type of those with a broken declaration is undefined. */
export function readFields(fields: Record<string, unknown>, path: string, max: number, problems: Problems) {
  limit(Object.keys(fields).length, max, path, problems);
  const read = new Map<string, Node.Field | undefined>();
  for (const [name, field] of Object.entries(fields)) {
    const memberPath = at(path, name);
    checkName(name, memberPath, problems);
    const isValid =
      choose(FIELDS, "type", field, memberPath, problems) && checkItems(field as Node.Field, memberPath, problems);
    read.set(name, isValid ? (field as Node.Field) : undefined);
  }
  return read;
}

function checkItems(field: Node.Field, path: string, problems: Problems): boolean {
  if (field.type !== "array" || field.items.enum === undefined || field.items.type === "string") return true;
  problems.add(at(path, "items", "enum"), "TYPE_MISMATCH", "only items of the type string have an enum");
  return false;
}

/** Reads the lifecycle; undefined if its shape is broken. */
export function readLifecycle(value: unknown, problems: Problems) {
  if (value === null) return null;
  if (!fits(LIFECYCLE, value, "lifecycle", problems)) return undefined;
  const { initial, states } = value as Node.Lifecycle;
  limit(states.length, LIMITS.states, "lifecycle.states", problems);
  const valid = states
    .map((item, index) => ({ item, path: at("lifecycle.states", index) }))
    .filter(({ item, path }) => fits(STATE, item, path, problems));
  // References may mean a state that cannot be read, so then the names are unknown.
  const names = valid.length === states.length ? new Set(valid.map(({ item }) => item.name)) : undefined;
  return { initial, states: valid, names };
}

export function checkLifecycle({ initial, states }: NonNullable<ReturnType<typeof readLifecycle>>, scope: Scope): void {
  const { problems } = scope;
  const seen = new Set<string>();
  checkReference("state", initial, "lifecycle.initial", scope);
  for (const { item: state, path } of states) {
    const memberPath = at(path, "name");
    checkIdentifier(state.name, memberPath, problems);
    if (state.name === "created") {
      const message = `no state may be called "created": each customer's first emission is customer.created`;
      problems.add(memberPath, "RESERVED_NAME", message);
    }
    if (seen.has(state.name))
      problems.add(memberPath, "DUPLICATE_STATE", `there is another state ${quote(state.name)}`);
    seen.add(state.name);
    if (state.terminal && state.transitions.length > 0) {
      const message = `the terminal state ${quote(state.name)} must not have transitions`;
      problems.add(at(path, "transitions"), "TERMINAL_STATE_WITH_TRANSITIONS", message);
    }
    state.transitions.forEach((transition, index) => {
      const transitionPath = at(path, "transitions", index);
      if (!fits(TRANSITION, transition, transitionPath, problems)) return;
      checkReference("state", transition.to, at(transitionPath, "to"), scope);
      checkCondition(transition.when, at(transitionPath, "when"), scope);
    });
  }
}

/** Reads the journeys and the steps of each valid one, and reports problems of their shapes and ids. */
export function readJourneys(values: unknown[], problems: Problems) {
  const read = readParts<Node.Journey>("journey", values, "journeys", problems);
  const steps = read.items.map(({ item, path }) =>
    readParts<Node.JourneyStep>("step", item.steps, at(path, "steps"), problems),
  );
  return { ...read, steps };
}

export function checkJourneys({ items, steps }: ReturnType<typeof readJourneys>, scope: Scope): void {
  const { problems } = scope;
  items.forEach(({ item: journey, path }, index) => {
    checkDuration(journey.expiresAfter, at(path, "expiresAfter"), problems);
    checkCondition(journey.start, at(path, "start"), scope);
    for (const { item: step, path: memberPath } of steps[index]!.items) {
      if (step.since !== undefined && journey.anyOrder) {
        const message =
          "the steps of this journey can be completed in any order, so none can count since the previous one";
        problems.add(at(memberPath, "since"), "INVALID_SHAPE", message);
      }
      const before = problems.found.length;
      checkCondition(step.when, at(memberPath, "when"), scope);
      // Only a valid condition can be checked for being impossible.
      const reason = problems.found.length > before ? null : neverMet(step, journey);
      if (reason !== null) {
        problems.add(
          at(memberPath, "when"),
          "STEP_IMPOSSIBLE",
          `the step ${quote(step.id)} can never be met: ${reason}`,
        );
      }
    }
  });
}

export function checkRules({ items }: ReadList<Node.Rule>, scope: Scope): void {
  for (const { item: rule, path } of items) {
    checkTrigger(rule.on, at(path, "on"), scope);
    if (rule.when !== undefined) checkCondition(rule.when, at(path, "when"), scope);
    checkDuration(rule.cooldown, at(path, "cooldown"), scope.problems);
    if (rule.cooldown !== undefined && rule.once) {
      const message = `a rule that acts once needs no cooldown: it has a cooldown or "once", not both`;
      scope.problems.add(at(path, "cooldown"), "INVALID_SHAPE", message);
    }
    checkAction(rule.then, at(path, "then"), scope);
  }
}

function checkTrigger(value: unknown, path: string, scope: Scope): void {
  if (!choose(TRIGGERS, "kind", value, path, scope.problems)) return;
  const trigger = value as Node.Trigger;
  if ("of" in trigger) checkSelector(trigger.of, at(path, "of"), scope, 0);
  else if ("state" in trigger) {
    if (requireLifecycle(path, scope)) checkReference("state", trigger.state, at(path, "state"), scope);
  } else if ("journey" in trigger) {
    checkReference("journey", trigger.journey, at(path, "journey"), scope);
    if ("step" in trigger) checkReference("step", trigger.step, at(path, "step"), scope, trigger.journey);
  } else if ("segment" in trigger) checkReference("segment", trigger.segment, at(path, "segment"), scope);
  else if ("band" in trigger) {
    if (requireHealth(path, scope)) checkReference("band", trigger.band, at(path, "band"), scope);
  } else if ("signal" in trigger) checkReference("signal", trigger.signal, at(path, "signal"), scope);
}

function checkAction(value: unknown, path: string, scope: Scope): void {
  if (!choose(ACTIONS, "kind", value, path, scope.problems)) return;
  const action = value as Node.Action;
  const { problems } = scope;
  if (action.kind === "emit") {
    checkEmissionType(action.type, at(path, "type"), problems);
    if (action.message !== undefined) checkMessage(action.message, at(path, "message"), scope);
  } else if ("segment" in action) {
    const memberPath = at(path, "segment");
    checkReference("segment", action.segment, memberPath, scope);
    if (!scope.segments?.get(action.segment)) return;
    const message = `the segment ${quote(action.segment)} has a condition, which decides who is in it; rules can change only segments without one`;
    problems.add(memberPath, "SEGMENT_HAS_CONDITION", message);
  } else {
    const memberPath = at(path, "signal");
    checkReference("signal", action.signal, memberPath, scope);
    if (!scope.signals?.get(action.signal)) return;
    const message = `the signal ${quote(action.signal)} has a condition, which raises and clears it; rules can change only signals without one`;
    problems.add(memberPath, "SIGNAL_HAS_CONDITION", message);
  }
}

const EMISSION_TYPE = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+$/;

/** The families of types that the service itself emits; receivers must be able to tell these from types of rules. */
const RESERVED_FAMILIES = ["customer", "journey", "segment", "health", "signal"];

function checkEmissionType(type: string, path: string, problems: Problems): void {
  if (type.length > LIMITS.nameLength || !EMISSION_TYPE.test(type)) {
    const message = `${quote(type)} is not a valid event type: write at least two lower-case names with a dot between them, such as "upsell.ready", in at most ${LIMITS.nameLength} characters`;
    problems.add(path, "INVALID_NAME", message);
  } else if (RESERVED_FAMILIES.includes(type.slice(0, type.indexOf(".")))) {
    const message = `event types that begin with ${list(RESERVED_FAMILIES)} are reserved for what the service itself emits`;
    problems.add(path, "RESERVED_NAME", message);
  }
}

/** The placeholders of a message other than traits. */
const CUSTOMER_PLACEHOLDERS = ["name", "owner", "customerId"];

function checkMessage(message: string, path: string, { traits, hasOwner, problems }: Scope): void {
  const parts = messageParts(message);
  if (parts === null) {
    const problem =
      'a brace stands alone or holds no name: write a placeholder, such as "{name}", or double the brace to have it in the text';
    problems.add(path, "INVALID_VALUE", problem);
  }
  for (const part of parts ?? []) {
    if ("text" in part || !traits || traits.has(part.placeholder)) continue;
    const name = part.placeholder;
    if (name === "owner" && !hasOwner) {
      problems.add(path, "INVALID_VALUE", 'the display names no owner that "{owner}" could stand for');
    } else if (!CUSTOMER_PLACEHOLDERS.includes(name)) {
      const problem = `there is no trait ${quote(name)} that ${quote(`{${name}}`)} could stand for`;
      problems.addNear(path, "UNKNOWN_TRAIT", problem, name, [...CUSTOMER_PLACEHOLDERS, ...traits.keys()]);
    }
  }
}

type ScoreOf<Kind extends Node.Score["kind"]> = Extract<Node.Score, { kind: Kind }>;

/** A limit and the score up to it. */
const SCORE_STEP = Compile(Type.Tuple([Type.Number(), Type.Number({ minimum: 0, maximum: 100 })]));

/** Checks the score of a health component: shape, numbers, measure. */
function checkScore(value: unknown, path: string, scope: Scope): void {
  if (!choose(SCORES, "kind", value, path, scope.problems)) return;
  const score = value as Node.Score;
  if (score.kind === "scale") checkScale(score, path, scope);
  else if (score.kind === "steps") checkSteps(score, path, scope);
  else checkMap(score, path, scope);
}

function checkScale(score: ScoreOf<"scale">, path: string, scope: Scope): void {
  const { from, to } = score;
  const memberPath = at(path, "to");
  if (from === to) {
    scope.problems.add(memberPath, "INVALID_VALUE", `must differ from "from", which is ${from}, too`);
  } else if (!Number.isFinite(to - from)) {
    scope.problems.add(memberPath, "INVALID_VALUE", `is too far from "from" for a number between them to be scored`);
  }
  // Beyond the greater end the score is constant, so a distinct count need not go further.
  const max = to > from ? { value: to, path: memberPath } : { value: from, path: at(path, "from") };
  checkMeasure(score.of, at(path, "of"), scope, max);
}

function checkSteps(score: ScoreOf<"steps">, path: string, scope: Scope): void {
  const steps = at(path, "steps");
  const areValid = score.steps.map((step, index) => fits(SCORE_STEP, step, at(steps, index), scope.problems));
  const limitPath = (index: number) => at(steps, index, 0);
  if (areValid.every(Boolean)) {
    score.steps.forEach(([limit], index) => {
      const before = score.steps[index - 1];
      if (before === undefined || limit > before[0]) return;
      const message = `limits ascend: this one must be greater than ${before[0]}, the one before it`;
      scope.problems.add(limitPath(index), "INVALID_VALUE", message);
    });
  }
  const last = score.steps.length - 1;
  const value = areValid[last] ? score.steps[last]![0] : 0;
  checkMeasure(score.of, at(path, "of"), scope, { value, path: limitPath(last) });
}

function checkMap(score: ScoreOf<"map">, path: string, scope: Scope): void {
  const field = traitOfType(score.trait, "string", at(path, "trait"), scope);
  if (field?.type !== "string" || !field.enum) return;
  for (const value of Object.keys(score.values))
    checkChoice(field.enum, value, at(path, "values", value), scope.problems);
}

/** Reads the health; undefined if its shape is broken. */
export function readHealth(value: unknown, problems: Problems) {
  if (value === null) return null;
  if (!fits(HEALTH, value, "health", problems)) return undefined;
  const { components, bands } = value as Node.Health;
  return {
    components: readParts<Node.HealthComponent>("component", components, "health.components", problems),
    bands: readParts<Node.HealthBand>("band", bands, "health.bands", problems),
  };
}

export function checkHealth({ components, bands }: NonNullable<ReturnType<typeof readHealth>>, scope: Scope): void {
  if (components.ids && components.items.every(({ item }) => item.weight === 0)) {
    const message = "the weights of the components sum to zero, so there is no mean of them";
    scope.problems.add("health.components", "WEIGHTS_SUM_TO_ZERO", message);
  }
  for (const { item, path } of components.items) checkScore(item.score, at(path, "score"), scope);
  if (bands.ids) checkBands(bands.items, scope.problems);
}

/** Checks that every score is in exactly one band. */
function checkBands(bands: Placed<Node.HealthBand>[], problems: Problems): void {
  bands.forEach(({ item: band, path }, index) => {
    const above = bands[index - 1]?.item;
    const memberPath = at(path, "from");
    if (above && band.from >= above.from) {
      const message = `bands are listed from the highest to the lowest: this one must begin below ${quote(above.id)}, at less than ${above.from}`;
      problems.add(memberPath, "INVALID_VALUE", message);
    } else if (index === bands.length - 1 && band.from !== 0) {
      const message = `the last band, ${quote(band.id)}, is not from 0, so a score below ${band.from} would have no band`;
      problems.add(memberPath, "INVALID_VALUE", message);
    }
  });
}

/** Checks the display, if there is one: its traits must be declared, with suitable types. */
export function checkDisplay(value: unknown, scope: Scope): void {
  const { problems } = scope;
  if (value === undefined || !fits(DISPLAY, value, "display", problems)) return;
  const { name, owner, renewal, show = [] } = value as Node.Display;
  if (Object.keys(value as Node.Display).length === 0) {
    problems.add("display", "INVALID_SHAPE", 'must have at least one of "name", "owner", "renewal", "show"');
  }
  if (name !== undefined) traitOfType(name, "string", "display.name", scope);
  if (owner !== undefined) traitOfType(owner, "string", "display.owner", scope);
  if (renewal !== undefined) traitOfType(renewal, "date", "display.renewal", scope);
  limit(show.length, LIMITS.shown, "display.show", problems);
  const seen = new Set<string>();
  show.forEach((trait, index) => {
    const memberPath = at("display.show", index);
    checkReference("trait", trait, memberPath, scope);
    if (seen.has(trait)) problems.add(memberPath, "DUPLICATE_TRAIT", `the trait ${quote(trait)} is shown twice`);
    seen.add(trait);
  });
}

export function checkTracking(value: unknown, scope: Scope): void {
  const { problems } = scope;
  if (value === undefined || !fits(TRACKING, value, "tracking", problems)) return;
  const { events } = value as Node.Tracking;
  limit(Object.keys(events).length, LIMITS.events, "tracking.events", problems);
  for (const [name, event] of Object.entries(events))
    checkReference("event", event, at("tracking.events", name), scope);
}
