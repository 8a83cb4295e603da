import { isDuration } from "../snapshot/duration.js";
import { LIMITS } from "../snapshot/limits.js";
import { nearest } from "../snapshot/nearest.js";
import { at, type ProblemCode, type Problems, quote } from "../snapshot/problem.js";
import type { Field } from "../snapshot/types.js";

/** Keys that could reach the prototype of an object built from them. */
const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

/** NUL and half characters are legal in JSON but cannot be stored as jsonb. */
const NOT_STORABLE = /\0|\p{Surrogate}/u;

/** Refuses what no part of a snapshot may hold, wherever it stands: too deep nesting, hostile keys, texts that cannot be stored, and
 * (for callers within the process) values that JSON cannot say. After this, recursion over the value is safe. */
export function screen(value: unknown, path: string, problems: Problems, depth = 0): void {
  if (typeof value === "string") {
    if (NOT_STORABLE.test(value))
      problems.add(path, "INVALID_VALUE", "a text must hold neither the character U+0000 nor half of a surrogate pair");
  } else if (value === null || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) {
    return;
  } else if (typeof value !== "object") {
    problems.add(path, "NOT_JSON", `a value of the type ${typeof value} cannot be part of a snapshot`);
  } else if (depth >= LIMITS.nesting) {
    problems.add(path, "TOO_DEEP", `objects and arrays are nested more than ${LIMITS.nesting} deep`);
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => screen(item, at(path, index), problems, depth + 1));
  } else {
    screenMembers(value as Record<string, unknown>, path, problems, depth);
  }
}

function screenMembers(value: Record<string, unknown>, path: string, problems: Problems, depth: number): void {
  for (const key of Object.keys(value)) {
    const place = at(path, key);
    if (FORBIDDEN_KEYS.has(key)) {
      problems.add(place, "FORBIDDEN_KEY", `the name "${key}" is not allowed`);
    } else if (NOT_STORABLE.test(key)) {
      problems.add(place, "INVALID_NAME", "a name must hold neither the character U+0000 nor half of a surrogate pair");
    } else {
      screen(value[key], place, problems, depth + 1);
    }
  }
}

/** What the conditions of a snapshot may refer to. A part whose own shape is broken is undefined: it is reported once, where it is,
 * and references into it are let pass. */
export interface Scope {
  events: Map<string, Map<string, Field | undefined> | undefined>;
  traits: Map<string, Field | undefined> | undefined;
  /** Null without a lifecycle. */
  states: Set<string> | null | undefined;
  /** The ids of the steps, by the id of the journey. */
  journeys: Map<string, Set<string> | undefined> | undefined;
  /** Whether it has a condition, by id. */
  segments: Map<string, boolean> | undefined;
  /** Null without health. */
  health: { components: Set<string> | undefined; bands: Set<string> | undefined } | null | undefined;
  /** Whether it has a condition, by id. */
  signals: Map<string, boolean> | undefined;
  problems: Problems;
}

/** Where a condition stands, as far as it matters for what it may say. */
export interface Place {
  /** How many conditions it is within, itself included. */
  depth: number;
  /** Whether occurrences count since the start of a journey's run, or since its end: then as many are remembered as are compared with. */
  inJourney: boolean;
}

// eslint-disable-next-line no-control-regex -- control characters are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Names of events, properties and traits: what products send. */
export function checkName(name: string, path: string, problems: Problems): void {
  const length = Array.from(name).length;
  if (length < 1 || length > LIMITS.nameLength || CONTROL.test(name)) {
    problems.add(
      path,
      "INVALID_NAME",
      `a name has 1 to ${LIMITS.nameLength} characters, none of them a control character`,
    );
  }
}

const IDENTIFIER = /^[a-z][a-z0-9_]*$/;

/** Names of states, segments, journeys, steps and so on: ours to choose, part of emission types, and keys of state documents. */
export function checkIdentifier(name: string, path: string, problems: Problems): void {
  if (name.length > LIMITS.nameLength || !IDENTIFIER.test(name)) {
    problems.add(
      path,
      "INVALID_NAME",
      `${quote(name)} is no name here: it needs 1 to ${LIMITS.nameLength} lower-case letters, digits and underscores, beginning with a letter`,
    );
  } else if (FORBIDDEN_KEYS.has(name)) {
    problems.add(path, "RESERVED_NAME", `the name ${quote(name)} is not allowed`);
  }
}

export function checkDuration(text: string, path: string, problems: Problems): void {
  if (!isDuration(text)) {
    problems.add(
      path,
      "INVALID_DURATION",
      `${quote(text)} is no duration: write a whole number and m, h, d or w, such as "12h" or "30d", up to "3650d"`,
    );
  }
}

/** Beyond these, an answer has better uses for its time than to look for what was meant. */
const MAX_SUGGESTIONS = 100;

/** Reports a reference that does not resolve, with the name that was probably meant. */
export function unknown(
  problems: Problems,
  path: string,
  code: Extract<ProblemCode, `UNKNOWN_${string}` | "INVALID_VALUE">,
  message: string,
  name: string,
  known: Iterable<string>,
): void {
  const meant = problems.found.length < MAX_SUGGESTIONS ? nearest(name, known) : undefined;
  problems.add(path, code, meant === undefined ? message : `${message}; did you mean ${quote(meant)}?`);
}

/** Whether the model has a lifecycle; reported where it has none. */
export function requireLifecycle(path: string, scope: Scope): boolean {
  if (scope.states !== null) return true;
  scope.problems.add(path, "NO_LIFECYCLE", "the model has no lifecycle to refer to");
  return false;
}

/** Whether a segment of this id exists; reported where it does not. */
export function checkSegment(id: string, path: string, { segments, problems }: Scope): void {
  if (!segments || segments.has(id)) return;
  unknown(problems, path, "UNKNOWN_SEGMENT", `there is no segment ${quote(id)}`, id, segments.keys());
}

/** Whether a journey of this id exists; reported where it does not. */
export function checkJourney(id: string, path: string, { journeys, problems }: Scope): void {
  if (!journeys || journeys.has(id)) return;
  unknown(problems, path, "UNKNOWN_JOURNEY", `there is no journey ${quote(id)}`, id, journeys.keys());
}

/** Whether a signal of this id exists; reported where it does not. */
export function checkSignal(id: string, path: string, { signals, problems }: Scope): void {
  if (!signals || signals.has(id)) return;
  unknown(problems, path, "UNKNOWN_SIGNAL", `there is no signal ${quote(id)}`, id, signals.keys());
}
