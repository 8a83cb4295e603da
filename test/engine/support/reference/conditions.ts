import { parseDuration } from "../../../../src/model/snapshot/duration.js";
import type {
  Condition,
  EventSelector,
  Measure,
  OccurrenceScope,
  Score,
} from "../../../../src/model/snapshot/types.js";
import { isInScope, measured, selected, type Facts, type Start } from "./facts.js";
import { compare, fieldsOf, instantOf, read } from "./values.js";

const DAY = 86_400_000;

/** A condition, and the start from which occurrences count unless it has its own. */
export interface Scoped {
  condition: Condition;
  start: Start;
}

/** Whether a condition holds at an instant, evaluated over the whole history. */
export function holds(facts: Facts, { condition, start }: Scoped, t: number): boolean {
  const inner = (part: Condition): boolean => holds(facts, { condition: part, start }, t);
  switch (condition.kind) {
    case "all":
      return condition.conditions.every(inner);
    case "any":
      return condition.conditions.some(inner);
    case "not":
      return !inner(condition.condition);
    case "count":
    case "aggregate":
    case "distinct":
    case "daysSince":
    case "ratio":
    case "difference":
      return compare(measured(facts, condition, t, start), condition.operator, condition.value);
    case "latest": {
      const field = fieldsOf(facts.snapshot, condition.of.event)[condition.property];
      return compare(measured(facts, condition, t, start), condition.operator, condition.value, field);
    }
    case "latestExists":
      return measured(facts, { ...condition, kind: "latest" }, t, start) !== undefined;
    case "sequence":
      return hasSequence(facts, condition, start);
    case "trait": {
      const field = facts.snapshot.traits[condition.trait];
      return compare(read(facts.traits, condition.trait, field), condition.operator, condition.value, field);
    }
    case "traitExists":
      return read(facts.traits, condition.trait, facts.snapshot.traits[condition.trait]) !== undefined;
    case "traitDateWithin": {
      const date = instantOf(facts.traits[condition.trait]);
      return date !== undefined && t >= date - parseDuration(condition.within) && t < date;
    }
    case "traitDatePassed": {
      const date = instantOf(facts.traits[condition.trait]);
      return date !== undefined && t >= date + lengthOf(condition.by);
    }
    case "inactiveFor":
      return t - (facts.lastEventAt ?? facts.firstEvaluatedAt!) >= parseDuration(condition.duration);
    case "activeWithin":
      return facts.lastEventAt !== null && facts.lastEventAt > t - parseDuration(condition.duration);
    case "lifecycle":
      return facts.lifecycle !== null && condition.states.includes(facts.lifecycle.state);
    case "inState":
      return facts.lifecycle !== null && t - facts.lifecycle.enteredAt >= parseDuration(condition.atLeast);
    case "segment":
      return facts.segments.has(condition.segment);
    case "journey":
      return condition.statuses.includes(facts.journeys.get(condition.journey)?.status ?? "not_started");
    case "journeyStep": {
      const run = facts.journeys.get(condition.journey);
      if (run === undefined) return false;
      if (condition.is === "completed") return Object.hasOwn(run.steps, condition.step);
      return run.status === "active" && run.currentStep === condition.step;
    }
    case "health": {
      const { health } = facts;
      const score = condition.component === undefined ? health?.overall : health?.components[condition.component];
      return compare(score, condition.operator, condition.value);
    }
    case "healthBand":
      return facts.health !== null && condition.bands.includes(facts.health.band);
  }
}

function hasSequence(facts: Facts, condition: Extract<Condition, { kind: "sequence" }>, start: Start): boolean {
  const firsts = selected(facts, condition.first).filter((one) => isInScope(facts, condition.since, start, one));
  const thens = selected(facts, condition.then);
  return firsts.some((a) =>
    thens.some(
      (b) =>
        (b.occurredAt > a.occurredAt || (b.occurredAt === a.occurredAt && b.seq > a.seq)) &&
        b.occurredAt - a.occurredAt < parseDuration(condition.within),
    ),
  );
}

/** The earliest instant after the clock at which a leaf of the conditions changes by time alone. */
export function nextFlip(facts: Facts, conditions: readonly Scoped[], clock: number): number {
  const leaves = conditions.flatMap(leavesOf);
  return earliest(
    leaves.flatMap((leaf) => [...new Set(candidates(facts, leaf.condition))].map((at) => ({ at, of: leaf }))),
    clock,
    (leaf, t) => holds(facts, leaf, t),
  );
}

/** The earliest candidate after the clock at which the value differs from the one a millisecond before. */
export function earliest<T>(
  tries: readonly { at: number; of: T }[],
  clock: number,
  value: (of: T, t: number) => unknown,
): number {
  const ascending = tries.filter(({ at }) => at > clock).sort((a, b) => a.at - b.at);
  return ascending.find(({ at, of }) => value(of, at) !== value(of, at - 1))?.at ?? Infinity;
}

export function leavesOf({ condition, start }: Scoped): Scoped[] {
  if (condition.kind === "all" || condition.kind === "any") {
    return condition.conditions.flatMap((inner) => leavesOf({ condition: inner, start }));
  }
  if (condition.kind === "not") return leavesOf({ condition: condition.condition, start });
  return [{ condition, start }];
}

/** Every instant at which a leaf could change. */
function candidates(facts: Facts, leaf: Condition): number[] {
  switch (leaf.kind) {
    case "count":
    case "aggregate":
    case "distinct":
    case "latest":
    case "latestExists":
      return windowEnds(facts, leaf);
    case "ratio":
    case "difference":
      return measureCandidates(facts, leaf, 0);
    case "daysSince":
      return wholeDays(facts, leaf.of, leaf.value);
    case "inactiveFor":
      return [(facts.lastEventAt ?? facts.firstEvaluatedAt!) + parseDuration(leaf.duration)];
    case "activeWithin":
      return facts.lastEventAt === null ? [] : [facts.lastEventAt + parseDuration(leaf.duration)];
    case "inState":
      return facts.lifecycle === null ? [] : [facts.lifecycle.enteredAt + parseDuration(leaf.atLeast)];
    case "traitDateWithin": {
      const date = instantOf(facts.traits[leaf.trait]);
      return date === undefined ? [] : [date - parseDuration(leaf.within), date];
    }
    case "traitDatePassed": {
      const date = instantOf(facts.traits[leaf.trait]);
      return date === undefined ? [] : [date + lengthOf(leaf.by)];
    }
    default:
      return [];
  }
}

/** Every instant at which a score could change. */
export function scoreCandidates(facts: Facts, score: Score): number[] {
  if (score.kind === "map") return [];
  const limits = score.kind === "scale" ? [score.from, score.to] : score.steps.map(([limit]) => limit);
  return measureCandidates(facts, score.of, Math.max(...limits.map(Math.abs)));
}

function measureCandidates(facts: Facts, measure: Measure, greatest: number): number[] {
  if (measure.kind === "trait") return [];
  if (measure.kind === "daysSince") return wholeDays(facts, measure.of, greatest);
  if (measure.kind === "ratio" || measure.kind === "difference") {
    const other = measure.kind === "ratio" ? measure.per : measure.minus;
    return [measure.of, other].flatMap((one) => measureCandidates(facts, one, greatest));
  }
  return windowEnds(facts, measure);
}

function windowEnds(
  facts: Facts,
  { of, within, previous }: { of: EventSelector; previous?: true } & OccurrenceScope,
): number[] {
  if (within === undefined) return [];
  const ends = previous ? [1, 2] : [1];
  return selected(facts, of).flatMap(({ occurredAt }) => ends.map((n) => occurredAt + n * parseDuration(within)));
}

function wholeDays(facts: Facts, of: EventSelector, most: number): number[] {
  const days = Array.from({ length: Math.ceil(Math.abs(most)) + 3 }, (_, n) => n * DAY);
  return selected(facts, of).flatMap(({ occurredAt }) => days.map((day) => occurredAt + day));
}

function lengthOf(duration: string | undefined): number {
  return duration === undefined ? 0 : parseDuration(duration);
}
