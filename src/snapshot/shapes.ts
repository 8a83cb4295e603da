import Type from "typebox";
import type { TProperties } from "typebox";
import { Compile } from "typebox/compile";

import { LIMITS } from "./limits.js";
import type { Problems } from "./problem.js";
import { at, list } from "./problem.js";

/**
 * The shape of each kind of node, one level deep: parts that are nodes of their own are `Unknown` here and are checked where they are
 * visited. So every message has the exact path of one node, and a union never answers with the errors of all its branches.
 */
type Shape = ReturnType<typeof Compile>;

const closed = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });
const shape = (properties: TProperties): Shape => Compile(closed(properties));

const node = Type.Unknown();
const nodes = Type.Array(Type.Unknown());
const record = Type.Record(Type.String(), Type.Unknown());
const text = Type.String();
const yes = Type.Optional(Type.Literal(true));
const none = Type.Array(Type.Unknown(), { maxItems: 0 });

const scalarTypes = [Type.String(), Type.Number(), Type.Boolean()];
const scalars = Type.Array(Type.Union(scalarTypes), { minItems: 1, maxItems: LIMITS.values, uniqueItems: true });
const choices = Type.Optional(
  Type.Array(Type.String({ minLength: 1 }), { minItems: 1, maxItems: LIMITS.values, uniqueItems: true }),
);
const compareOperator = Type.Enum(["eq", "ne", "in", "notIn", "lt", "lte", "gt", "gte", "contains"]);
const countOperator = Type.Enum(["eq", "ne", "lt", "lte", "gt", "gte"]);
const items = closed({ type: Type.Enum(["string", "number", "boolean", "date"]), enum: choices });
const parts = Type.Array(Type.Unknown(), { minItems: 1 });

export const SNAPSHOT = shape({
  formatVersion: Type.Integer(),
  strictSchema: Type.Boolean(),
  events: record,
  traits: record,
  lifecycle: node,
  journeys: none,
  segments: nodes,
  health: Type.Null(),
  rules: none,
  signals: none,
});

export const EVENT = shape({ properties: record });
export const LIFECYCLE = shape({ initial: text, states: nodes });
export const STATE = shape({ name: text, terminal: yes, transitions: nodes });
export const TRANSITION = shape({ to: text, when: node });
export const SEGMENT = shape({ id: text, when: Type.Optional(node) });
export const SELECTOR = shape({ event: text, where: Type.Optional(node) });

/** By the member `type`. */
export const FIELDS: Readonly<Record<string, Shape>> = byName({
  string: { type: text, enum: choices, optional: yes },
  number: { type: text, optional: yes },
  boolean: { type: text, optional: yes },
  date: { type: text, optional: yes },
  array: { type: text, items, optional: yes },
});

const combined = { kind: text, conditions: parts };
const negated = { kind: text, condition: node };
const comparison = { kind: text, operator: compareOperator, value: Type.Union([...scalarTypes, scalars]) };
const counted = Type.Integer({ minimum: 0, maximum: LIMITS.count });
const since = Type.Optional(Type.Literal("state"));

/** By the member `kind`. */
export const CONDITIONS: Readonly<Record<string, Shape>> = byName({
  all: combined,
  any: combined,
  not: negated,
  count: { kind: text, of: node, within: Type.Optional(text), since, operator: countOperator, value: counted },
  trait: { ...comparison, trait: text },
  traitExists: { kind: text, trait: text },
  traitDateWithin: { kind: text, trait: text, within: text },
  inactiveFor: { kind: text, duration: text },
  activeWithin: { kind: text, duration: text },
  lifecycle: { kind: text, states: Type.Array(text, { minItems: 1, maxItems: LIMITS.states, uniqueItems: true }) },
  inState: { kind: text, atLeast: text },
  segment: { kind: text, segment: text },
});

/** By the member `kind`. */
export const PROPERTY_CONDITIONS: Readonly<Record<string, Shape>> = byName({
  all: combined,
  any: combined,
  not: negated,
  compare: { ...comparison, property: text },
  exists: { kind: text, property: text },
});

function byName(shapes: Record<string, TProperties>): Record<string, Shape> {
  return Object.fromEntries(Object.entries(shapes).map(([name, properties]) => [name, shape(properties)]));
}

/** Whether a value has a shape; what is wrong with it is reported. */
export function fits(expected: Shape, value: unknown, path: string, problems: Problems): boolean {
  if (expected.Check(value)) return true;
  const failures = expected.Errors(value);
  // A union reports each of its branches and itself: the place is what matters, once.
  const unions = new Set(
    failures.filter((failure) => failure.keyword === "anyOf").map((failure) => failure.instancePath),
  );
  for (const failure of failures) {
    const place = failure.instancePath.split("/").slice(1).reduce(atPointer, path);
    if ([...unions].some((union) => failure.instancePath.startsWith(`${union}/`))) continue;
    if (failure.keyword === "required") {
      for (const name of failure.params.requiredProperties)
        problems.add(at(place, name), "INVALID_SHAPE", "is missing");
    } else if (failure.keyword === "additionalProperties") {
      for (const name of failure.params.additionalProperties)
        problems.add(at(place, name), "INVALID_SHAPE", "is not known here");
    } else if (failure.keyword === "anyOf") {
      problems.add(
        place,
        "INVALID_SHAPE",
        "must be a text, a number, true or false, or a list of different ones of these",
      );
    } else if (failure.keyword === "enum") {
      problems.add(place, "INVALID_SHAPE", `must be one of ${list(failure.params.allowedValues.map(String))}`);
    } else if (failure.keyword === "minItems" && failure.params.limit === 1) {
      problems.add(place, "INVALID_SHAPE", "must not be empty");
    } else if (failure.keyword !== "boolean" && !unions.has(failure.instancePath)) {
      problems.add(place, "INVALID_SHAPE", failure.message);
    }
  }
  return false;
}

/** Whether a value has the shape that one of its members (`type` or `kind`) chooses; what is wrong with it is reported. */
export function choose(
  shapes: Readonly<Record<string, Shape>>,
  member: string,
  value: unknown,
  path: string,
  problems: Problems,
): boolean {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    problems.add(path, "INVALID_SHAPE", "must be an object");
    return false;
  }
  const name = (value as Record<string, unknown>)[member];
  if (typeof name !== "string" || !Object.hasOwn(shapes, name)) {
    problems.add(at(path, member), "INVALID_SHAPE", `must be one of ${list(Object.keys(shapes))}`);
    return false;
  }
  return fits(shapes[name]!, value, path, problems);
}

function atPointer(path: string, part: string): string {
  return at(path, /^\d+$/.test(part) ? Number(part) : part.replaceAll("~1", "/").replaceAll("~0", "~"));
}
