import { parseDuration } from "../../model/snapshot/duration.js";
import { MOVES_BY_TIME_MAX } from "../../model/snapshot/limits.js";
import { at, quote } from "../../model/snapshot/problem.js";
import type { Condition, Lifecycle } from "../../model/snapshot/types.js";
import { neverTogether } from "../../model/validate/impossible.js";
import type { LintWarning } from "./conditions.js";

const DAY = 86_400_000;

/** A cycle that takes longer than this to use up all its moves may be intended; a quicker one cannot be. */
const QUICK = 365 * DAY;

/** A transition that a silent customer makes, by time alone, after each entry of its state. */
interface Move {
  to: string;
  when: Condition;
  path: string;
  /** Milliseconds from the entry of the state. */
  delay: number;
}

interface Way {
  moves: Move[];
  delay: number;
}

/**
 * Finds cycles of states that time alone leads through, so quickly that the engine ends them (see `MOVES_BY_TIME_MAX`). Each is reported at the first
 * transition of its first state. Conditions that read other items of the model, or windows of occurrences, are assumed to wait for something.
 */
export function lintCircles(lifecycle: Lifecycle): LintWarning[] {
  const moves = new Map(
    lifecycle.states.map((state, index) => [state.name, movesOf(state, at("lifecycle.states", index))]),
  );
  const reported = new Set<string>();
  return lifecycle.states.flatMap(({ name }) => {
    const way = reported.has(name) ? undefined : quickestWayBack(name, moves);
    if (!way || !repeats(way)) return [];
    for (const { to } of way.moves) reported.add(to);
    const states = [name, ...way.moves.map(({ to }) => to)].map(quote).join(" to ");
    const days = Math.ceil(durationOfAll(way) / DAY);
    const message =
      `time alone leads from ${states}, and round again: a customer who sends nothing new is moved ` +
      `${MOVES_BY_TIME_MAX.toLocaleString("en-US")} times within ${days === 1 ? "a day" : `${days} days`}, and then no more`;
    return [{ path: way.moves[0]!.path, code: "CIRCLE_BY_TIME" as const, message }];
  });
}

/** The transitions by time that no other transition of the state certainly precedes. */
function movesOf({ name, transitions }: Lifecycle["states"][number], path: string): Move[] {
  const certain = transitions.map(({ when }) => delayUntil(when, true, name, false));
  return transitions.flatMap(({ to, when }, index) => {
    const delay = delayUntil(when, true, name, true);
    const isLate = certain.some((other, position) => other < delay || (other === delay && position < index));
    return isLate || delay === Infinity ? [] : [{ to, when, path: at(path, "transitions", index), delay }];
  });
}

/**
 * How long after the entry of a state a condition holds (or does not, without `holds`) for a customer who has been silent for long: in milliseconds, Infinity
 * for never. `assume`: whether conditions that time does not change, such as those on traits, are assumed to be fulfilled.
 */
function delayUntil(condition: Condition, holds: boolean, state: string, assume: boolean): number {
  const assumed = assume ? 0 : Infinity;
  switch (condition.kind) {
    case "all":
    case "any": {
      const parts = condition.conditions.map((part) => delayUntil(part, holds, state, assume));
      return (condition.kind === "all") === holds ? Math.max(...parts) : Math.min(...parts);
    }
    case "not":
      return delayUntil(condition.condition, !holds, state, assume);
    case "inState":
      return holds ? parseDuration(condition.atLeast) : Infinity;
    case "lifecycle":
      return condition.states.includes(state) === holds ? 0 : Infinity;
    case "inactiveFor":
      return holds ? 0 : Infinity;
    case "activeWithin":
      return holds ? Infinity : 0;
    case "trait":
    case "traitExists":
    case "traitDatePassed":
      return assumed;
    case "daysSince":
      // The number only grows.
      return holds === ["gt", "gte", "ne"].includes(condition.operator) ? assumed : Infinity;
    case "count":
    case "aggregate":
    case "distinct":
    case "latest":
    case "latestExists":
      return condition.within === undefined && condition.since === undefined ? assumed : Infinity;
    default:
      return Infinity;
  }
}

/** The quickest way from a state back to itself; undefined if there is none. */
function quickestWayBack(start: string, moves: ReadonlyMap<string, readonly Move[]>): Way | undefined {
  const ways = new Map<string, Way>();
  const changed: Way[] = [{ moves: [], delay: 0 }];
  // The iteration includes items that are added meanwhile.
  for (const way of changed) {
    const state = way.moves.at(-1)?.to ?? start;
    if (state === start && way.moves.length > 0) continue;
    for (const move of moves.get(state) ?? []) {
      const next = { moves: [...way.moves, move], delay: way.delay + move.delay };
      if (next.delay >= (ways.get(move.to)?.delay ?? Infinity)) continue;
      ways.set(move.to, next);
      changed.push(next);
    }
  }
  return ways.get(start);
}

/** Whether a customer can go through a cycle again and again. A state is entered once at an instant, so a cycle with a single wait ends where it began. */
function repeats(way: Way): boolean {
  if (way.moves.filter(({ delay }) => delay > 0).length < 2 || durationOfAll(way) > QUICK) return false;
  return neverTogether({ kind: "all", conditions: way.moves.map(({ when }) => when) }) === null;
}

/** The time until the engine moves the customer no more, in milliseconds. */
function durationOfAll({ moves, delay }: Way): number {
  return (delay / moves.length) * MOVES_BY_TIME_MAX;
}
