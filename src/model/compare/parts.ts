import type { Placed } from "../snapshot/list.js";
import { at, quote } from "../snapshot/problem.js";
import type {
  Health,
  HealthBand,
  HealthComponent,
  Journey,
  JourneyStep,
  Lifecycle,
  LifecycleState,
  Rule,
  Score,
  Segment,
  Signal,
  Transition,
  Trigger,
} from "../snapshot/types.js";
import { actionText, conditionText, scoreText, stepsText, triggerText } from "../snapshot/words.js";
import { asFlag, asWhole, type Changes, compareMembers, member, type ComparedPart, same } from "./change.js";
import { compareConditions, compareFilters, compareMeasures } from "./conditions.js";
import { compareKeyed, compareOrder, compareParts, type Keyed, keyedItems, keyedMembers } from "./lists.js";

export function compareHealth(
  before: Placed<Health> | undefined,
  after: Placed<Health> | undefined,
  changes: Changes,
): void {
  compareComponents(itemsOf(before, "components"), itemsOf(after, "components"), changes);
  compareBands(itemsOf(before, "bands"), itemsOf(after, "bands"), changes);
}

function itemsOf<K extends "components" | "bands">(
  health: Placed<Health> | undefined,
  list: K,
): Keyed<Health[K][number]>[] {
  const items = health && (member(health, list) as Placed<Health[K][number][]>);
  return items === undefined ? [] : keyedItems(items, ({ id }) => id);
}

function compareComponents(before: Keyed<HealthComponent>[], after: Keyed<HealthComponent>[], changes: Changes): void {
  const compare = (part: ComparedPart, older: Placed<HealthComponent>, newer: Placed<HealthComponent>): void =>
    compareMembers(older, newer, {
      id: null,
      weight: asWhole(changes, part, "weight", String),
      score: (was, is) => compareScores(part, was!, is!, changes),
    });
  const text = ({ weight, score }: HealthComponent): string => `weight ${weight}, ${scoreText(score)}`;
  compareKeyed(before, after, { part: (id) => ({ subject: "health component", id }), text, compare }, changes);
  const part = { subject: "setting", id: "components" } as const;
  compareOrder(before, after, { part, path: "health.components", what: "health components" }, changes);
}

function compareBands(before: Keyed<HealthBand>[], after: Keyed<HealthBand>[], changes: Changes): void {
  const compare = (part: ComparedPart, older: Placed<HealthBand>, newer: Placed<HealthBand>): void =>
    compareMembers(older, newer, { id: null, from: asWhole(changes, part, "from", String) });
  const part = (id: string): ComparedPart => ({ subject: "setting", id: `bands.${id}` });
  compareKeyed(before, after, { part, text: ({ from }) => `from ${from}`, compare }, changes);
  const bands = { subject: "setting", id: "bands" } as const;
  compareOrder(before, after, { part: bands, path: "health.bands", what: "bands" }, changes);
}

type Of<K extends Score["kind"]> = Placed<Extract<Score, { kind: K }>>;

function compareScores(part: ComparedPart, before: Placed<Score>, after: Placed<Score>, changes: Changes): void {
  if (isOf("scale", before) && isOf("scale", after)) {
    compareMembers(before, after, {
      kind: null,
      of: (was, is) => compareMeasures(part, was!, is!, changes),
      from: asWhole(changes, part, "scale from", String),
      to: asWhole(changes, part, "scale to", String),
    });
  } else if (isOf("steps", before) && isOf("steps", after)) {
    compareMembers(before, after, {
      kind: null,
      of: (was, is) => compareMeasures(part, was!, is!, changes),
      steps: asWhole(changes, part, "steps", stepsText),
      otherwise: asWhole(changes, part, "otherwise", String),
    });
  } else if (isOf("map", before) && isOf("map", after)) {
    compareMembers(before, after, {
      kind: null,
      trait: asWhole(changes, part, "trait", String),
      values: (was, is) => compareValues(part, was!, is!, changes),
    });
  } else {
    asWhole(changes, part, "score", scoreText)(before, after);
  }
}

function isOf<K extends Score["kind"]>(kind: K, score: Placed<Score>): score is Of<K> {
  return score.item.kind === kind;
}

/** The scores of the values of a trait. */
function compareValues(
  part: ComparedPart,
  before: Placed<Record<string, number>>,
  after: Placed<Record<string, number>>,
  changes: Changes,
): void {
  const [was, is] = [before, after].map((side) => new Map(keyedMembers(side).map((one) => [one.key, one] as const)));
  for (const value of new Set([...is!.keys(), ...was!.keys()])) {
    const [older, newer] = [was!.get(value), is!.get(value)];
    if (older?.item !== newer?.item) asWhole(changes, part, `score of ${JSON.stringify(value)}`, String)(older, newer);
  }
}

export function compareJourneys(before: Placed<Journey[]>, after: Placed<Journey[]>, changes: Changes): void {
  const compare = (part: ComparedPart, older: Placed<Journey>, newer: Placed<Journey>): void =>
    compareJourney(part, older, newer, changes);
  const text = ({ steps }: Journey): string => `steps ${steps.map(({ id }) => id).join(", ")}`;
  compareParts(before, after, { subject: "journey", what: "journeys", text, compare }, changes);
}

function compareJourney(part: ComparedPart, before: Placed<Journey>, after: Placed<Journey>, changes: Changes): void {
  compareMembers(before, after, {
    id: null,
    start: (was, is) => compareConditions(part, "start", was, is, changes),
    steps: (was, is) => compareSteps(part, was!, is!, changes),
    anyOrder: asFlag(changes, part, "anyOrder"),
    expiresAfter: asWhole(changes, part, "expiresAfter", String),
    repeat: asFlag(changes, part, "repeat"),
  });
}

function compareSteps(
  journey: ComparedPart,
  before: Placed<JourneyStep[]>,
  after: Placed<JourneyStep[]>,
  changes: Changes,
): void {
  const [was, is] = [keyedItems(before, ({ id }) => id), keyedItems(after, ({ id }) => id)];
  const compare = (part: ComparedPart, older: Placed<JourneyStep>, newer: Placed<JourneyStep>): void =>
    compareMembers(older, newer, {
      id: null,
      when: (former, present) => compareConditions(part, "when", former, present, changes),
      since: asWhole(changes, part, "since", String),
    });
  const part = (id: string): ComparedPart => ({ subject: "step", id: `${journey.id}.${id}` });
  compareKeyed(was, is, { part, text: ({ when }) => conditionText(when), compare }, changes);
  compareOrder(was, is, { part: journey, path: after.path, what: "steps" }, changes);
}

export function compareLifecycles(
  before: Placed<Lifecycle> | undefined,
  after: Placed<Lifecycle> | undefined,
  changes: Changes,
): void {
  compareInitial(before, after, changes);
  const [was, is] = [statesOf(before), statesOf(after)];
  const compare = (part: ComparedPart, former: Placed<LifecycleState>, present: Placed<LifecycleState>): void =>
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
  part: ComparedPart,
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
  state: ComparedPart,
  before: Placed<Transition[]>,
  after: Placed<Transition[]>,
  changes: Changes,
): void {
  const [was, is] = [keyedItems(before, ({ to }) => to), keyedItems(after, ({ to }) => to)];
  const compare = (part: ComparedPart, older: Placed<Transition>, newer: Placed<Transition>): void =>
    compareMembers(older, newer, {
      to: null,
      when: (former, present) => compareConditions(part, "when", former, present, changes),
    });
  const part = (to: string): ComparedPart => ({ subject: "transition", id: `${state.id} → ${to}` });
  compareKeyed(was, is, { part, text: ({ when }) => conditionText(when), compare }, changes);
  compareOrder(was, is, { part: state, path: after.path, what: "transitions are tried" }, changes);
}

function stateText({ terminal, transitions }: LifecycleState): string {
  if (transitions.length === 0) return terminal === true ? "terminal" : "without transitions";
  return `to ${transitions.map(({ to }) => to).join(", ")}`;
}

export function compareSegments(before: Placed<Segment[]>, after: Placed<Segment[]>, changes: Changes): void {
  const compare = (part: ComparedPart, older: Placed<Segment>, newer: Placed<Segment>): void =>
    compareMembers(older, newer, {
      id: null,
      when: (former, present) => compareConditions(part, "when", former, present, changes),
    });
  const text = ({ when }: Segment): string => (when === undefined ? "filled by rules" : conditionText(when));
  compareParts(before, after, { subject: "segment", what: "segments", text, compare }, changes);
}

export function compareRules(before: Placed<Rule[]>, after: Placed<Rule[]>, changes: Changes): void {
  const compare = (part: ComparedPart, older: Placed<Rule>, newer: Placed<Rule>): void =>
    compareMembers(older, newer, {
      id: null,
      on: (former, present) => compareTriggers(part, former!, present!, changes),
      when: (former, present) => compareConditions(part, "when", former, present, changes),
      cooldown: asWhole(changes, part, "cooldown", String),
      once: asFlag(changes, part, "once"),
      then: asWhole(changes, part, "then", actionText),
    });
  const text = ({ on, then }: Rule): string => `on ${triggerText(on)}: ${actionText(then)}`;
  compareParts(before, after, { subject: "rule", what: "rules", text, compare }, changes);
}

function compareTriggers(part: ComparedPart, before: Placed<Trigger>, after: Placed<Trigger>, changes: Changes): void {
  const [was, is] = [before.item, after.item];
  if (was.kind === "event" && is.kind === "event" && was.of.event === is.of.event) {
    const [older, newer] = [was.of, is.of];
    const of = (side: Placed<Trigger>): string => at(side.path, "of");
    compareFilters(part, { item: older, path: of(before) }, { item: newer, path: of(after) }, changes);
  } else {
    asWhole(changes, part, "on", triggerText)(before, after);
  }
}

export function compareSignals(before: Placed<Signal[]>, after: Placed<Signal[]>, changes: Changes): void {
  const compare = (part: ComparedPart, older: Placed<Signal>, newer: Placed<Signal>): void =>
    compareMembers(older, newer, {
      id: null,
      severity: asWhole(changes, part, "severity", String),
      message: asWhole(changes, part, "message", quote),
      when: (former, present) => compareConditions(part, "when", former, present, changes),
      for: asWhole(changes, part, "for", String),
    });
  const text = ({ severity, when }: Signal): string =>
    when === undefined ? `${severity}, raised by rules` : `${severity}, ${conditionText(when)}`;
  compareParts(before, after, { subject: "signal", what: "signals", text, compare }, changes);
}
