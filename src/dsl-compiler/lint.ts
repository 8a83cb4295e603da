import { parseDuration } from "../snapshot/duration.js";
import { at, quote } from "../snapshot/problem.js";
import type { Condition, Lifecycle, Snapshot } from "../snapshot/types.js";

/** Something in a sound snapshot that its author will hardly have meant. */
export interface Suspicion {
  path: string;
  code: "UNREACHABLE_STATE" | "UNUSED_EVENT" | "IMPOSSIBLE_CONDITION" | "POINTLESS_CONDITION";
  message: string;
}

/** Looks for what is certainly of no use. What could be meant is let pass: a warning that is wrong once is never read again. */
export function lint(snapshot: Snapshot): Suspicion[] {
  const suspicions: Suspicion[] = [];
  const used = new Set<string>();
  visitConditions(snapshot, (condition, path) => {
    if (condition.kind === "count") used.add(condition.of.event);
    suspicions.push(...judge(condition, path));
  });
  if (snapshot.lifecycle) suspicions.push(...lintLifecycle(snapshot.lifecycle));
  for (const event of Object.keys(snapshot.events)) {
    if (used.has(event)) continue;
    suspicions.push({
      path: at("events", event),
      code: "UNUSED_EVENT",
      message: `no condition reads the event ${quote(event)}`,
    });
  }
  return suspicions;
}

function visitConditions(snapshot: Snapshot, visit: (condition: Condition, path: string) => void): void {
  snapshot.lifecycle?.states.forEach((state, index) => {
    const transitions = at(at("lifecycle.states", index), "transitions");
    state.transitions.forEach(({ when }, position) => visitTree(when, at(at(transitions, position), "when"), visit));
  });
  snapshot.segments.forEach(({ when }, index) => {
    if (when) visitTree(when, at(at("segments", index), "when"), visit);
  });
}

function visitTree(condition: Condition, path: string, visit: (condition: Condition, path: string) => void): void {
  visit(condition, path);
  if (condition.kind === "not") visitTree(condition.condition, at(path, "condition"), visit);
  if (condition.kind === "all" || condition.kind === "any") {
    condition.conditions.forEach((part, index) => visitTree(part, at(at(path, "conditions"), index), visit));
  }
}

function judge(condition: Condition, path: string): Suspicion[] {
  if (condition.kind === "count" && condition.value === 0) {
    if (condition.operator === "lt") return [impossible(path, "a count is never less than 0")];
    if (condition.operator === "gte") {
      return [
        { path, code: "POINTLESS_CONDITION", message: "a count is always at least 0, so this condition always holds" },
      ];
    }
  }
  if (condition.kind === "all") return contradictions(condition.conditions, path);
  return [];
}

/** Silence and activity exclude each other unless the silence is the shorter of the two. */
function contradictions(conditions: Condition[], path: string): Suspicion[] {
  const silent = conditions.filter((condition) => condition.kind === "inactiveFor").map(({ duration }) => duration);
  const active = conditions.filter((condition) => condition.kind === "activeWithin").map(({ duration }) => duration);
  for (const silence of silent) {
    const activity = active.find((duration) => parseDuration(duration) <= parseDuration(silence));
    if (activity) {
      return [
        impossible(
          path,
          `nobody is inactive for ${quote(silence)} and active within ${quote(activity)} at the same time`,
        ),
      ];
    }
  }
  return [];
}

function impossible(path: string, message: string): Suspicion {
  return { path, code: "IMPOSSIBLE_CONDITION", message };
}

function lintLifecycle(lifecycle: Lifecycle): Suspicion[] {
  const transitions = new Map(lifecycle.states.map((state) => [state.name, state.transitions.map(({ to }) => to)]));
  const reached = new Set([lifecycle.initial]);
  // A set that grows while it is walked is walked to its new end.
  for (const state of reached) for (const next of transitions.get(state) ?? []) reached.add(next);

  return lifecycle.states.flatMap((state, index) => {
    const path = at("lifecycle.states", index);
    if (!reached.has(state.name)) {
      const message = `no transitions lead from ${quote(lifecycle.initial)} to the state ${quote(state.name)}`;
      return [{ path, code: "UNREACHABLE_STATE" as const, message }];
    }
    return state.transitions.flatMap(({ to, when }, position) => {
      const place = at(at(path, "transitions"), position);
      if (to === state.name) return [impossible(place, `the state ${quote(to)} is not entered from itself`)];
      if (!excludes(when, state.name)) return [];
      return [
        impossible(
          place,
          `the transition from ${quote(state.name)} to ${quote(to)} asks for another state than the one it leaves`,
        ),
      ];
    });
  });
}

/** Whether a condition certainly fails in a state, because it asks for another. */
function excludes(condition: Condition, state: string): boolean {
  if (condition.kind === "lifecycle") return !condition.states.includes(state);
  return condition.kind === "all" && condition.conditions.some((part) => excludes(part, state));
}
