import { canonicalJson } from "../snapshot/canonical.js";
import { LIMITS } from "../snapshot/limits.js";
import { at, type Placed, type Problem, Problems, quote } from "../snapshot/problem.js";
import type { Condition, Rule, Segment, Signal, Snapshot } from "../snapshot/types.js";
import { SNAPSHOT_FORMAT_VERSION } from "../snapshot/types.js";
import { checkCondition } from "./conditions.js";
import {
  checkDisplay,
  checkTracking,
  checkHealth,
  checkJourneys,
  checkLifecycle,
  checkRules,
  readEvents,
  readFields,
  readHealth,
  readJourneys,
  readLifecycle,
} from "./parts.js";
import { checkDuration, type ReadList, readParts, type Scope, checkStorable } from "./scope.js";
import { fits, SNAPSHOT } from "./shapes.js";

/**
 * Reports each cycle of segments that read each other. A cycle through the lifecycle or a journey is allowed: at one instant a state is left,
 * and a step completed, only once. No other cycles are possible: health reads events and traits, and nothing reads rules and signals.
 */
function checkSegmentCycles(segments: Placed<Segment>[], problems: Problems): void {
  const references = new Map(segments.map(({ item, path }) => [item.id, referencesOf(item.when, at(path, "when"))]));
  const finished = new Set<string>();
  const trail: string[] = [];

  function visit(id: string): void {
    trail.push(id);
    for (const reference of references.get(id) ?? []) {
      const start = trail.indexOf(reference.segment);
      if (start >= 0) {
        const cycle = [...trail.slice(start), reference.segment].map(quote).join(" reads ");
        problems.add(reference.path, "SEGMENT_CYCLE", `segments must not read each other in a circle: ${cycle}`);
      } else if (!finished.has(reference.segment)) visit(reference.segment);
    }
    trail.pop();
    finished.add(id);
  }

  for (const id of references.keys()) if (!finished.has(id)) visit(id);
}

/** The segments that a condition reads, with the paths of the references. */
function referencesOf(condition: Condition | undefined, path: string): { segment: string; path: string }[] {
  switch (condition?.kind) {
    case "all":
    case "any":
      return condition.conditions.flatMap((part, index) => referencesOf(part, at(path, "conditions", index)));
    case "not":
      return referencesOf(condition.condition, at(path, "condition"));
    case "segment":
      return [{ segment: condition.segment, path: at(path, "segment") }];
    default:
      return [];
  }
}

export type { Problem } from "../snapshot/problem.js";

export type ParseResult = { ok: true; snapshot: Snapshot } | { ok: false; problems: Problem[] };

/** The only problem of a snapshot with too many bytes. */
export const TOO_LARGE: Problem = {
  path: "",
  code: "SNAPSHOT_TOO_LARGE",
  message: `a snapshot has at most ${LIMITS.bytes} bytes of canonical JSON`,
};

/**
 * Validates an untrusted snapshot. Every reader of a snapshot starts here, so a hand-made one can do no more than a compiled one. The
 * result is a copy in canonical key order that shares nothing with the argument.
 *
 * All problems of the content are reported at once. If a document has an unknown format, or is too large, too deep or hostile, only that is
 * reported.
 */
export function parseSnapshot(json: unknown): ParseResult {
  const problems = new Problems();
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    problems.add("", "INVALID_SHAPE", "a snapshot is an object");
    return { ok: false, problems: problems.found };
  }
  const version = Object.hasOwn(json, "formatVersion") ? (json as Record<string, unknown>)["formatVersion"] : undefined;
  if (version === SNAPSHOT_FORMAT_VERSION) checkStorable(json, "", problems);
  // In another format nothing else can be checked.
  else
    problems.add(
      "formatVersion",
      "FORMAT_VERSION_UNKNOWN",
      `this version reads the format ${SNAPSHOT_FORMAT_VERSION} only`,
    );
  if (problems.found.length > 0) return { ok: false, problems: problems.found };

  const canonical = canonicalJson(json);
  if (Buffer.byteLength(canonical, "utf8") > LIMITS.bytes) return { ok: false, problems: [TOO_LARGE] };
  const copy = JSON.parse(canonical) as unknown;
  if (fits(SNAPSHOT, copy, "", problems)) checkContent(copy as Snapshot, problems);
  return problems.found.length > 0 ? { ok: false, problems: problems.found } : { ok: true, snapshot: copy as Snapshot };
}

/** Checks the content. Declarations are read first, since conditions are checked against all of them. */
function checkContent(snapshot: Snapshot, problems: Problems): void {
  const lifecycle = readLifecycle(snapshot.lifecycle, problems);
  const journeys = readJourneys(snapshot.journeys, problems);
  const segments = readParts<Segment>("segment", snapshot.segments, "segments", problems);
  const health = readHealth(snapshot.health, problems);
  const rules = readParts<Rule>("rule", snapshot.rules, "rules", problems);
  const signals = readParts<Signal>("signal", snapshot.signals, "signals", problems);
  const scope: Scope = {
    events: readEvents(snapshot.events, problems),
    traits: readFields(snapshot.traits, "traits", LIMITS.traits, problems),
    states: lifecycle && lifecycle.names,
    journeys:
      journeys.ids && new Map(journeys.items.map(({ item }, index) => [item.id, journeys.steps[index]!.ids] as const)),
    segments: withConditions(segments),
    health: health && { components: health.components.ids, bands: health.bands.ids },
    signals: withConditions(signals),
    hasOwner: snapshot.display?.owner !== undefined,
    problems,
  };
  if (snapshot.onViolation !== undefined && !snapshot.strictSchema) {
    problems.add("onViolation", "INVALID_SHAPE", "has no meaning unless strictSchema is true");
  }
  if (lifecycle) checkLifecycle(lifecycle, scope);
  checkJourneys(journeys, scope);
  checkSegments(segments, scope);
  if (health) checkHealth(health, scope);
  checkRules(rules, scope);
  checkSignals(signals, scope);
  checkDisplay(snapshot.display, scope);
  checkTracking(snapshot.tracking, scope);
}

function withConditions({ items, ids }: ReadList<Segment | Signal>): Map<string, boolean> | undefined {
  return ids && new Map(items.map(({ item }) => [item.id, item.when !== undefined]));
}

function checkSegments({ items }: ReadList<Segment>, scope: Scope): void {
  const before = scope.problems.found.length;
  for (const { item, path } of items) if (item.when !== undefined) checkCondition(item.when, at(path, "when"), scope);
  // The search for cycles walks conditions, so their shapes must be valid.
  const haveValidShape = scope.problems.found.slice(before).every(({ code }) => code !== "INVALID_SHAPE");
  if (haveValidShape) checkSegmentCycles(items, scope.problems);
}

function checkSignals({ items }: ReadList<Signal>, scope: Scope): void {
  for (const { item: signal, path } of items) {
    if (signal.when !== undefined) checkCondition(signal.when, at(path, "when"), scope);
    checkDuration(signal.for, at(path, "for"), scope.problems);
    if (signal.when === undefined || signal.for === undefined) continue;
    const message = "a signal with a condition is cleared when the condition ceases to hold";
    scope.problems.add(at(path, "for"), "INVALID_SHAPE", message);
  }
}
