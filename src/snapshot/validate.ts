import { canonicalJson } from "./canonical.js";
import { LIMITS } from "./limits.js";
import type { Problem } from "./problem.js";
import { at, Problems, quote } from "./problem.js";
import { screen } from "./screen.js";
import { checkSegmentCycles } from "./segment-cycles.js";
import type { Scope } from "./scope.js";
import { checkIdentifier, checkName } from "./scope.js";
import { choose, EVENT, FIELDS, fits, LIFECYCLE, SEGMENT, SNAPSHOT, STATE, TRANSITION } from "./shapes.js";
import type { EventSchema, Field, Lifecycle, LifecycleState, Segment, Snapshot, Transition } from "./types.js";
import { SNAPSHOT_FORMAT_VERSION } from "./types.js";
import { checkCondition } from "./validate-condition.js";

export type { Problem } from "./problem.js";

export type ParseResult = { ok: true; snapshot: Snapshot } | { ok: false; problems: Problem[] };

/**
 * Reads a snapshot that anybody may have made. Every reader of a snapshot begins here, so a hand-made one can do no more than an
 * authored one. The result is a copy in canonical key order that shares nothing with the argument.
 *
 * All problems of the content are reported at once. A document of an unknown format, or one that is too large, too deep or hostile,
 * is refused for that alone.
 */
export function parseSnapshot(json: unknown): ParseResult {
  const problems = new Problems();
  if (typeof json !== "object" || json === null || Array.isArray(json)) {
    problems.add("", "INVALID_SHAPE", "a snapshot is an object");
    return { ok: false, problems: problems.found };
  }
  checkFormatVersion(json, problems);
  if (problems.found.length === 0) screen(json, "", problems);
  if (problems.found.length > 0) return { ok: false, problems: problems.found };

  const canonical = canonicalJson(json);
  if (Buffer.byteLength(canonical, "utf8") > LIMITS.bytes) {
    problems.add("", "SNAPSHOT_TOO_LARGE", `a snapshot has at most ${LIMITS.bytes} bytes of canonical JSON`);
    return { ok: false, problems: problems.found };
  }
  const copy = JSON.parse(canonical) as unknown;
  if (fits(SNAPSHOT, copy, "", problems)) checkContent(copy as Snapshot, problems);
  return problems.found.length > 0 ? { ok: false, problems: problems.found } : { ok: true, snapshot: copy as Snapshot };
}

/** Comes first: of another format nothing else can be said. */
function checkFormatVersion(json: object, problems: Problems): void {
  const version = Object.hasOwn(json, "formatVersion") ? (json as Record<string, unknown>)["formatVersion"] : undefined;
  if (version !== SNAPSHOT_FORMAT_VERSION) {
    problems.add(
      "formatVersion",
      "FORMAT_VERSION_UNKNOWN",
      `this version reads the format ${SNAPSHOT_FORMAT_VERSION} only`,
    );
  }
}

/** Declarations first: conditions are checked against all of them. */
function checkContent(snapshot: Snapshot, problems: Problems): void {
  const lifecycle = readLifecycle(snapshot.lifecycle, problems);
  const segments = readSegments(snapshot.segments, problems);
  const scope: Scope = {
    events: readEvents(snapshot.events, problems),
    traits: readFields(snapshot.traits, "traits", LIMITS.traits, problems),
    states: lifecycle && new Set(lifecycle.states.map(({ state }) => state.name)),
    // A segment that cannot be read may be the one that others name.
    segments:
      segments.length === snapshot.segments.length ? new Set(segments.map(({ segment }) => segment.id)) : undefined,
    problems,
  };
  if (lifecycle) checkLifecycle(lifecycle, scope);
  const before = problems.found.length;
  for (const { segment, path } of segments) {
    if (segment.when !== undefined) checkCondition(segment.when, at(path, "when"), scope);
  }
  // The search for cycles walks conditions, so they must be sound.
  if (problems.found.length === before) checkSegmentCycles(segments, problems);
}

function readEvents(events: Record<string, unknown>, problems: Problems): Scope["events"] {
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

function readFields(
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
  problems.add(at(at(path, "items"), "enum"), "TYPE_MISMATCH", "only items of the type string have an enum");
  return false;
}

interface ReadLifecycle {
  initial: string;
  states: { state: LifecycleState; path: string }[];
}

/** Undefined where the shape is broken. */
function readLifecycle(value: unknown, problems: Problems): ReadLifecycle | null | undefined {
  if (value === null) return null;
  if (!fits(LIFECYCLE, value, "lifecycle", problems)) return undefined;
  const { initial, states } = value as Lifecycle;
  limit(states.length, LIMITS.states, "lifecycle.states", problems);
  const read = states.map((state, index) => ({ state, path: at("lifecycle.states", index) }));
  const sound = read.filter(({ state, path }) => fits(STATE, state, path, problems));
  // A state that cannot be read may be the one that others name.
  return sound.length === read.length ? { initial, states: read } : undefined;
}

function checkLifecycle(lifecycle: ReadLifecycle, scope: Scope): void {
  const { problems } = scope;
  const seen = new Set<string>();
  if (!scope.states?.has(lifecycle.initial)) {
    problems.add("lifecycle.initial", "UNKNOWN_STATE", `the lifecycle has no state ${quote(lifecycle.initial)}`);
  }
  for (const { state, path } of lifecycle.states) {
    const place = at(path, "name");
    checkIdentifier(state.name, place, problems);
    if (state.name === "created") {
      problems.add(
        place,
        "RESERVED_NAME",
        `no state may be called "created": each customer's first emission is customer.created`,
      );
    }
    if (seen.has(state.name)) problems.add(place, "DUPLICATE_STATE", `there is another state ${quote(state.name)}`);
    seen.add(state.name);
    if (state.terminal && state.transitions.length > 0) {
      const message = `the terminal state ${quote(state.name)} must not have transitions`;
      problems.add(at(path, "transitions"), "TERMINAL_STATE_WITH_TRANSITIONS", message);
    }
    state.transitions.forEach((transition, index) =>
      checkTransition(transition, at(at(path, "transitions"), index), scope),
    );
  }
}

function checkTransition(transition: Transition, path: string, scope: Scope): void {
  if (!fits(TRANSITION, transition, path, scope.problems)) return;
  if (!scope.states?.has(transition.to)) {
    scope.problems.add(at(path, "to"), "UNKNOWN_STATE", `the lifecycle has no state ${quote(transition.to)}`);
  }
  checkCondition(transition.when, at(path, "when"), scope);
}

function readSegments(segments: unknown[], problems: Problems): { segment: Segment; path: string }[] {
  limit(segments.length, LIMITS.segments, "segments", problems);
  const seen = new Set<string>();
  const read = segments.map((segment, index) => ({ segment: segment as Segment, path: at("segments", index) }));
  return read.filter(({ segment, path }) => {
    if (!fits(SEGMENT, segment, path, problems)) return false;
    const place = at(path, "id");
    checkIdentifier(segment.id, place, problems);
    if (seen.has(segment.id)) problems.add(place, "DUPLICATE_SEGMENT", `there is another segment ${quote(segment.id)}`);
    seen.add(segment.id);
    return true;
  });
}

function limit(count: number, most: number, path: string, problems: Problems): void {
  if (count > most) problems.add(path, "TOO_MANY", `there are ${count} of at most ${most}`);
}
