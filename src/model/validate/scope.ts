import { isDuration } from "../snapshot/duration.js";
import { LIMITS } from "../snapshot/limits.js";
import { at, type Placed, type Problems, quote } from "../snapshot/problem.js";
import type { Field } from "../snapshot/types.js";
import { BAND, COMPONENT, fits, JOURNEY, RULE, SEGMENT, SIGNAL, STEP } from "./shapes.js";

/** Identifiers that objects inherit. Names of events, properties and traits come from the product and are not restricted in this way. */
const RESERVED_IDENTIFIERS: ReadonlySet<string> = new Set(["constructor", "prototype"]);

/** NUL and lone surrogates are legal in JSON but cannot be stored as jsonb. */
const NOT_STORABLE = /\0|\p{Surrogate}/u;
const STORABLE = "must hold neither the character U+0000 nor half of a surrogate pair";

/** Reports what no part of a snapshot may contain, anywhere: too deep nesting, texts that cannot be stored, and (for callers in the same
 * process) values that JSON cannot represent. After this check, recursion over the value is safe. */
export function checkStorable(value: unknown, path: string, problems: Problems, depth = 0): void {
  if (typeof value === "string") {
    if (NOT_STORABLE.test(value)) problems.add(path, "INVALID_VALUE", `a text ${STORABLE}`);
  } else if (value === null || typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value))) {
    return;
  } else if (typeof value !== "object") {
    problems.add(path, "NOT_JSON", `a value of the type ${typeof value} cannot be part of a snapshot`);
  } else if (depth >= LIMITS.nesting) {
    problems.add(path, "TOO_DEEP", `objects and arrays are nested more than ${LIMITS.nesting} deep`);
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => checkStorable(item, at(path, index), problems, depth + 1));
  } else {
    for (const [key, member] of Object.entries(value)) {
      const place = at(path, key);
      if (NOT_STORABLE.test(key)) problems.add(place, "INVALID_NAME", `a name ${STORABLE}`);
      else checkStorable(member, place, problems, depth + 1);
    }
  }
}

/** What the conditions of a snapshot may refer to. A part with a broken shape is undefined: it is reported once, at its place, and references
 * into it are not checked. */
export interface Scope {
  events: Map<string, Map<string, Field | undefined> | undefined>;
  traits: Map<string, Field | undefined> | undefined;
  /** Null without a lifecycle. */
  states: Set<string> | null | undefined;
  /** The ids of the steps, by the id of the journey. */
  journeys: Map<string, Set<string> | undefined> | undefined;
  /** Whether a segment has a condition, by its id. */
  segments: Map<string, boolean> | undefined;
  /** Null without health. */
  health: { components: Set<string> | undefined; bands: Set<string> | undefined } | null | undefined;
  /** Whether the display has an owner. */
  hasOwner: boolean;
  /** Whether a signal has a condition, by its id. */
  signals: Map<string, boolean> | undefined;
  problems: Problems;
}

// oxlint-disable-next-line no-control-regex -- it is meant to find control characters
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Checks the name of an event, a property or a trait, which products choose. */
export function checkName(name: string, path: string, problems: Problems): void {
  const { length } = Array.from(name);
  if (length >= 1 && length <= LIMITS.nameLength && !CONTROL.test(name)) return;
  const message = `a name has 1 to ${LIMITS.nameLength} characters, none of them a control character`;
  problems.add(path, "INVALID_NAME", message);
}

const IDENTIFIER = /^[a-z][a-z0-9_]*$/;

/** Checks the name of a state, segment, journey, step and so on. These are stricter, as they are parts of emission types and keys of state
 * documents. */
export function checkIdentifier(name: string, path: string, problems: Problems): void {
  if (name.length > LIMITS.nameLength || !IDENTIFIER.test(name)) {
    const message = `${quote(name)} is not a valid name: it needs 1 to ${LIMITS.nameLength} lower-case letters, digits and underscores, beginning with a letter`;
    problems.add(path, "INVALID_NAME", message);
  } else if (RESERVED_IDENTIFIERS.has(name))
    problems.add(path, "RESERVED_NAME", `the name ${quote(name)} is not allowed`);
}

/** Checks the text of a duration, if there is one. */
export function checkDuration(text: string | undefined, path: string, problems: Problems): void {
  if (text === undefined || isDuration(text)) return;
  const message = `${quote(text)} is no duration: write a whole number and m, h, d or w, such as "12h" or "30d", up to "3650d"`;
  problems.add(path, "INVALID_DURATION", message);
}

/** Where names of a kind are declared, and how to name their holder unless it is the model itself. `owner` is the event or the journey. */
interface Declared {
  known: (scope: Scope, owner: string) => ReadonlyMap<string, unknown> | ReadonlySet<string> | null | undefined;
  holder?: (owner: string) => string;
}

const DECLARED = {
  event: { known: ({ events }) => events },
  property: { known: ({ events }, owner) => events.get(owner), holder: (owner) => `the event ${quote(owner)}` },
  trait: { known: ({ traits }) => traits },
  state: { known: ({ states }) => states, holder: () => "the lifecycle" },
  segment: { known: ({ segments }) => segments },
  journey: { known: ({ journeys }) => journeys },
  step: { known: ({ journeys }, owner) => journeys?.get(owner), holder: (owner) => `the journey ${quote(owner)}` },
  component: { known: ({ health }) => health?.components, holder: () => "the health score" },
  band: { known: ({ health }) => health?.bands, holder: () => "the health score" },
  signal: { known: ({ signals }) => signals },
} satisfies Record<string, Declared>;

type ReferenceKind = keyof typeof DECLARED;

/** Reports a reference to a name that is not declared, with a suggestion if a declared name is near. */
export function checkReference(kind: ReferenceKind, name: string, path: string, scope: Scope, owner = ""): void {
  const { known, holder }: Declared = DECLARED[kind];
  const names = known(scope, owner);
  if (!names || names.has(name)) return;
  const message = `${holder ? `${holder(owner)} has` : "there is"} no ${kind} ${quote(name)}`;
  const code = `UNKNOWN_${kind.toUpperCase() as Uppercase<ReferenceKind>}` as const;
  scope.problems.addNear(path, code, message, name, names.keys());
}

/** Whether the model has a lifecycle; reports it if not. */
export function requireLifecycle(path: string, { states, problems }: Scope): boolean {
  if (states !== null) return true;
  problems.add(path, "NO_LIFECYCLE", "the model has no lifecycle to refer to");
  return false;
}

/** Whether the model has a health score; reports it if not. */
export function requireHealth(path: string, { health, problems }: Scope): boolean {
  if (health !== null) return true;
  problems.add(path, "NO_HEALTH", "the model has no health score to refer to");
  return false;
}

/** A list of parts with ids, as far as it can be read. */
export interface ReadList<T> {
  /** The parts whose own shape is valid. */
  items: Placed<T>[];
  /** Undefined if a part cannot be read, since references may mean that one. */
  ids: Set<string> | undefined;
}

/** The kinds of parts with ids, and how many of each there may be. */
const LISTS = {
  segment: { shape: SEGMENT, most: LIMITS.segments },
  journey: { shape: JOURNEY, most: LIMITS.journeys },
  step: { shape: STEP, most: LIMITS.steps },
  component: { shape: COMPONENT, most: LIMITS.components },
  band: { shape: BAND, most: LIMITS.bands },
  rule: { shape: RULE, most: LIMITS.rules },
  signal: { shape: SIGNAL, most: LIMITS.signals },
} as const;

/** Reads a list of parts with ids and checks their number, their shapes, and that ids are valid and unique. Their contents are checked later. */
export function readParts<T extends { id: string }>(
  kind: keyof typeof LISTS,
  values: unknown[],
  path: string,
  problems: Problems,
): ReadList<T> {
  const { shape, most } = LISTS[kind];
  const noun = kind === "step" ? "step of this journey" : kind;
  const duplicate = `DUPLICATE_${kind.toUpperCase() as Uppercase<typeof kind>}` as const;
  limit(values.length, most, path, problems);
  const ids = new Set<string>();
  const items = values
    .map((value, index) => ({ item: value as T, path: at(path, index) }))
    .filter((read) => {
      if (!fits(shape, read.item, read.path, problems)) return false;
      const place = at(read.path, "id");
      checkIdentifier(read.item.id, place, problems);
      if (ids.has(read.item.id)) problems.add(place, duplicate, `there is another ${noun} ${quote(read.item.id)}`);
      ids.add(read.item.id);
      return true;
    });
  return { items, ids: items.length === values.length ? ids : undefined };
}

/** Reports a count that is above its limit. */
export function limit(count: number, most: number, path: string, problems: Problems): void {
  if (count > most) problems.add(path, "TOO_MANY", `there are ${count}, but at most ${most} are allowed`);
}
