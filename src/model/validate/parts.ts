/** The parts of a model other than its health: each is read first, so that conditions can be checked against all of them. */
import { LIMITS } from "../snapshot/limits.js";
import { at, list, type Placed, type Problems, quote } from "../snapshot/problem.js";
import type {
  Action,
  EventSchema,
  Field,
  Journey,
  JourneyStep,
  Lifecycle,
  LifecycleState,
  Rule,
  Transition,
  Trigger,
} from "../snapshot/types.js";
import { checkCondition, checkSelector } from "./conditions.js";
import { neverMet } from "./impossible.js";
import {
  checkDuration,
  checkIdentifier,
  checkName,
  limit,
  type ReadList,
  readList,
  refer,
  type Scope,
} from "./scope.js";
import {
  ACTIONS,
  choose,
  EVENT,
  FIELDS,
  fits,
  JOURNEY,
  LIFECYCLE,
  STATE,
  STEP,
  TRANSITION,
  TRIGGERS,
} from "./shapes.js";

/** Reads the declared events with their properties, and reports what is wrong with them. */
export function readEvents(events: Record<string, unknown>, problems: Problems): Scope["events"] {
  limit(Object.keys(events).length, LIMITS.events, "events", problems);
  const read: Scope["events"] = new Map();
  for (const [name, event] of Object.entries(events)) {
    const path = at("events", name);
    checkName(name, path, problems);
    const sound = fits(EVENT, event, path, problems);
    const fields = sound ? (event as EventSchema).properties : undefined;
    read.set(name, fields && readFields(fields, at(path, "properties"), LIMITS.properties, problems));
  }
  return read;
}

/** Reads declared properties or traits; those that cannot be read are there without a type. */
export function readFields(
  fields: Record<string, unknown>,
  path: string,
  most: number,
  problems: Problems,
): Map<string, Field | undefined> {
  limit(Object.keys(fields).length, most, path, problems);
  const read = new Map<string, Field | undefined>();
  for (const [name, field] of Object.entries(fields)) {
    const place = at(path, name);
    checkName(name, place, problems);
    const sound = choose(FIELDS, "type", field, place, problems) && checkItems(field as Field, place, problems);
    read.set(name, sound ? (field as Field) : undefined);
  }
  return read;
}

function checkItems(field: Field, path: string, problems: Problems): boolean {
  if (field.type !== "array" || field.items.enum === undefined || field.items.type === "string") return true;
  problems.add(at(path, "items", "enum"), "TYPE_MISMATCH", "only items of the type string have an enum");
  return false;
}

interface ReadLifecycle {
  initial: string;
  states: Placed<LifecycleState>[];
}

/** Undefined where the shape is broken. */
export function readLifecycle(value: unknown, problems: Problems): ReadLifecycle | null | undefined {
  if (value === null) return null;
  if (!fits(LIFECYCLE, value, "lifecycle", problems)) return undefined;
  const { initial, states } = value as Lifecycle;
  limit(states.length, LIMITS.states, "lifecycle.states", problems);
  const read = states.map((item, index) => ({ item, path: at("lifecycle.states", index) }));
  const sound = read.filter(({ item, path }) => fits(STATE, item, path, problems));
  // A state that cannot be read may be the one that others name.
  return sound.length === read.length ? { initial, states: read } : undefined;
}

export function checkLifecycle({ initial, states }: ReadLifecycle, scope: Scope): void {
  const { problems } = scope;
  const seen = new Set<string>();
  refer("state", initial, "lifecycle.initial", scope);
  for (const { item: state, path } of states) {
    const place = at(path, "name");
    checkIdentifier(state.name, place, problems);
    if (state.name === "created") {
      const message = `no state may be called "created": each customer's first emission is customer.created`;
      problems.add(place, "RESERVED_NAME", message);
    }
    if (seen.has(state.name)) problems.add(place, "DUPLICATE_STATE", `there is another state ${quote(state.name)}`);
    seen.add(state.name);
    if (state.terminal && state.transitions.length > 0) {
      const message = `the terminal state ${quote(state.name)} must not have transitions`;
      problems.add(at(path, "transitions"), "TERMINAL_STATE_WITH_TRANSITIONS", message);
    }
    state.transitions.forEach((transition, index) =>
      checkTransition(transition, at(path, "transitions", index), scope),
    );
  }
}

function checkTransition(transition: Transition, path: string, scope: Scope): void {
  if (!fits(TRANSITION, transition, path, scope.problems)) return;
  refer("state", transition.to, at(path, "to"), scope);
  checkCondition(transition.when, at(path, "when"), scope);
}

interface ReadJourneys extends ReadList<Journey> {
  /** By the journey's position among the sound ones. */
  steps: ReadList<JourneyStep>[];
}

/** Reads the journeys with their steps, and reports what is wrong with their shapes and ids. */
export function readJourneys(values: unknown[], problems: Problems): ReadJourneys {
  const options = { shape: JOURNEY, most: LIMITS.journeys, noun: "journey", duplicate: "DUPLICATE_JOURNEY" } as const;
  const read = readList<Journey>(values, "journeys", options, problems);
  const steps = read.items.map(({ item, path }) =>
    readList<JourneyStep>(
      item.steps,
      at(path, "steps"),
      { shape: STEP, most: LIMITS.steps, noun: "step of this journey", duplicate: "DUPLICATE_STEP" },
      problems,
    ),
  );
  return { ...read, steps };
}

export function checkJourneys({ items, steps }: ReadJourneys, scope: Scope): void {
  const { problems } = scope;
  items.forEach(({ item: journey, path }, index) => {
    checkDuration(journey.expiresAfter, at(path, "expiresAfter"), problems);
    // What starts another run counts since the end of the one before.
    checkCondition(journey.start, at(path, "start"), scope, { depth: 1, inJourney: journey.repeat === true });
    for (const { item: step, path: place } of steps[index]!.items) {
      if (step.since !== undefined && journey.anyOrder) {
        const message = "the steps of this journey are in any order, so none counts since the previous one";
        problems.add(at(place, "since"), "INVALID_SHAPE", message);
      }
      const before = problems.found.length;
      checkCondition(step.when, at(place, "when"), scope, { depth: 1, inJourney: true });
      // Only of a sound condition can it be said that it is never met.
      const reason = problems.found.length > before ? null : neverMet(step, journey);
      if (reason !== null) {
        problems.add(at(place, "when"), "STEP_IMPOSSIBLE", `the step ${quote(step.id)} can never be met: ${reason}`);
      }
    }
  });
}

export function checkRules({ items }: ReadList<Rule>, scope: Scope): void {
  for (const { item: rule, path } of items) {
    checkTrigger(rule.on, at(path, "on"), scope);
    if (rule.when !== undefined) checkCondition(rule.when, at(path, "when"), scope);
    checkDuration(rule.cooldown, at(path, "cooldown"), scope.problems);
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
  if ("of" in trigger) checkSelector(trigger.of, at(path, "of"), scope, 0);
  else if ("segment" in trigger) refer("segment", trigger.segment, at(path, "segment"), scope);
  else if ("signal" in trigger) refer("signal", trigger.signal, at(path, "signal"), scope);
}

function checkAction(value: unknown, path: string, scope: Scope): void {
  if (!choose(ACTIONS, "kind", value, path, scope.problems)) return;
  const action = value as Action;
  const { problems } = scope;
  if (action.kind === "emit") {
    checkEmissionType(action.type, at(path, "type"), problems);
  } else if ("segment" in action) {
    const place = at(path, "segment");
    refer("segment", action.segment, place, scope);
    if (!scope.segments?.get(action.segment)) return;
    const message = `the condition of the segment ${quote(action.segment)} decides who is in it; a rule changes segments without one`;
    problems.add(place, "SEGMENT_HAS_CONDITION", message);
  } else {
    const place = at(path, "signal");
    refer("signal", action.signal, place, scope);
    if (!scope.signals?.get(action.signal)) return;
    const message = `the condition of the signal ${quote(action.signal)} raises and clears it; a rule does so with signals without one`;
    problems.add(place, "SIGNAL_HAS_CONDITION", message);
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
