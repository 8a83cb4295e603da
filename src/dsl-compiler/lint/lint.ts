import { canonicalJson } from "../../model/snapshot/canonical.js";
import { parseDuration } from "../../model/snapshot/duration.js";
import { messageParts } from "../../model/snapshot/message.js";
import { at, quote } from "../../model/snapshot/problem.js";
import type { Condition, Health, Lifecycle, LifecycleState, Snapshot, Transition } from "../../model/snapshot/types.js";
import { lintCircles } from "./circles.js";
import { lintConditions, type LintWarning } from "./conditions.js";
import { lintLoops } from "./loops.js";

/**
 * Finds parts that are certainly useless. Whatever could be intended passes: after one wrong warning, authors ignore all of them.
 * @param recordOnly the events that the author marked as not for conditions
 */
export function lint(snapshot: Snapshot, recordOnly: readonly string[] = []): LintWarning[] {
  const { warnings, read, readsAll } = lintConditions(snapshot);
  const { lifecycle, health } = snapshot;
  if (lifecycle) warnings.push(...lintLifecycle(lifecycle), ...lintCircles(lifecycle));
  if (health) warnings.push(...lintBands(health));
  warnings.push(...lintSegments(snapshot), ...lintSignals(snapshot), ...lintLoops(snapshot));
  for (const event of Object.keys(snapshot.events)) {
    if (readsAll || read.has(event) || recordOnly.includes(event)) continue;
    const message = `no condition reads the event ${quote(event)}`;
    warnings.push({ path: at("events", event), code: "UNUSED_EVENT", message });
  }
  return warnings;
}

function lintLifecycle(lifecycle: Lifecycle): LintWarning[] {
  const transitions = new Map(lifecycle.states.map((state) => [state.name, state.transitions.map(({ to }) => to)]));
  const reached = new Set([lifecycle.initial]);
  // The iteration includes members that are added meanwhile.
  for (const state of reached) for (const next of transitions.get(state) ?? []) reached.add(next);

  return lifecycle.states.flatMap((state, index): LintWarning[] => {
    const path = at("lifecycle.states", index);
    if (!reached.has(state.name)) {
      const message = `the state ${quote(state.name)} is never entered: no transitions lead to it from ${quote(lifecycle.initial)}`;
      return [{ path, code: "UNREACHABLE_STATE", message }];
    }
    return state.transitions.flatMap((transition, position) => {
      const message = neverTaken(transition, state, state.transitions.slice(0, position));
      return message === null
        ? []
        : [{ path: at(path, "transitions", position), code: "IMPOSSIBLE_CONDITION", message }];
    });
  });
}

/** Why a transition is certainly never taken; null if it can be. @param before the transitions of the state that are tried before it */
function neverTaken({ to, when }: Transition, { name }: LifecycleState, before: readonly Transition[]): string | null {
  if (to === name) return `the state ${quote(to)} is not entered from itself`;
  const which = `the transition from ${quote(name)} to ${quote(to)}`;
  if (excludes(when, name)) return `${which} asks for another state than the one it leaves`;
  const condition = canonicalJson(when);
  const others = before.filter((other) => other.to !== name);
  const same = others.find((other) => canonicalJson(other.when) === condition);
  if (same) return `${which} is never taken: the one to ${quote(same.to)} comes before it and asks for the same`;
  const stay = timeInState(when);
  const sooner = others.find((other) => other.when.kind === "inState" && timeInState(other.when) <= stay);
  return sooner ? `${which} is never taken: the one to ${quote(sooner.to)} comes before it and is due no later` : null;
}

/** The least time in a state that a condition requires, in milliseconds; -1 if it requires none. */
function timeInState(condition: Condition): number {
  if (condition.kind === "inState") return parseDuration(condition.atLeast);
  return condition.kind === "all" ? Math.max(...condition.conditions.map(timeInState)) : -1;
}

/** Whether a condition certainly fails in a state, because it requires another. */
function excludes(condition: Condition, state: string): boolean {
  if (condition.kind === "lifecycle") return !condition.states.includes(state);
  return condition.kind === "all" && condition.conditions.some((part) => excludes(part, state));
}

/** Two limits above 0 that are at most 1 are fractions, of a score that is in percent. */
function lintBands({ bands }: Health): LintWarning[] {
  const limits = bands.map(({ from }) => from).filter((from) => from > 0);
  if (limits.length < 2 || limits.some((from) => from > 1)) return [];
  const highest = bands.reduce((one, other) => (other.from > one.from ? other : one));
  const message = `scores go from 0 to 100, so nearly all are in the band ${quote(highest.id)}, which begins at ${highest.from}`;
  return [{ path: at("health.bands", bands.indexOf(highest), "from"), code: "FRACTIONAL_BANDS", message }];
}

function lintSegments({ segments, rules }: Snapshot): LintWarning[] {
  const filled = new Set(rules.map(({ then }) => (then.kind === "addToSegment" ? then.segment : undefined)));
  return segments.flatMap(({ id, when }, index) => {
    if (when !== undefined || filled.has(id)) return [];
    const message = `nobody enters the segment ${quote(id)}: it has no condition, and no rule adds to it`;
    return [{ path: at("segments", index), code: "EMPTY_SEGMENT" as const, message }];
  });
}

function lintSignals({ signals, rules, traits }: Snapshot): LintWarning[] {
  const raised = new Set(rules.map(({ then }) => (then.kind === "raiseSignal" ? then.signal : undefined)));
  return signals.flatMap(({ id, when, message: text = "" }, index) => {
    const warnings: LintWarning[] = [];
    const path = at("signals", index);
    if (when === undefined && !raised.has(id)) {
      const message = `the signal ${quote(id)} is never raised: it has no condition, and no rule raises it`;
      warnings.push({ path, code: "SILENT_SIGNAL", message });
    }
    const [literal] = (messageParts(text) ?? []).flatMap((part) =>
      "placeholder" in part && Object.hasOwn(traits, part.placeholder) ? [part.placeholder] : [],
    );
    if (literal !== undefined) {
      const message = `the message of the signal ${quote(id)} shows ${quote(`{${literal}}`)} as it is written, not the trait`;
      warnings.push({ path: at(path, "message"), code: "LITERAL_PLACEHOLDER", message });
    }
    return warnings;
  });
}
