import Type from "typebox";
import type { TProperties } from "typebox";
import { Compile } from "typebox/compile";

import type { Problems } from "./problem.js";
import { at, list } from "./problem.js";

/**
 * The shape of one kind of node, one level deep: parts that are nodes of their own are `Unknown` in it and are checked where they are
 * visited. So every message has the exact path of one node, and a union never answers with the errors of all its branches.
 */
export type Shape = ReturnType<typeof Compile>;

/** An object of these members and no others. */
export const closed = <Properties extends TProperties>(properties: Properties) =>
  Type.Object(properties, { additionalProperties: false });

export const shape = (properties: TProperties): Shape => Compile(closed(properties));

/** Shapes by the value of the member that tells nodes apart. */
export function byName(shapes: Record<string, TProperties>): Readonly<Record<string, Shape>> {
  return Object.fromEntries(Object.entries(shapes).map(([name, properties]) => [name, shape(properties)]));
}

/** What is wrong with a number or a text that is one, as it should be: what reads it can read it. */
const READABLE = new Set(["minimum", "maximum", "minLength", "maxLength"]);

const tolerant = new WeakSet<Shape>();

/** The same shape, of which a number or a text that is out of bounds does not keep what stands beside it from being checked. Nothing else
 * may check the same bounds, or one mistake is reported twice. */
export function tolerating(expected: Shape): Shape {
  tolerant.add(expected);
  return expected;
}

/** Whether a value has a shape, or is as good as one where the shape is tolerant; what is wrong with it is reported. */
export function fits(expected: Shape, value: unknown, path: string, problems: Problems): boolean {
  if (expected.Check(value)) return true;
  const failures = expected.Errors(value);
  // A union reports each of its branches and itself: the place is what matters, once.
  const unions = new Set(
    failures.filter((failure) => failure.keyword === "anyOf").map((failure) => failure.instancePath),
  );
  // Of an object with many unknown members, only these are told before the validator has enough.
  const named = failures.some(({ keyword }) => keyword === "additionalProperties");
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
    } else if (failure.keyword === "boolean") {
      if (!named) problems.add(place, "INVALID_SHAPE", "is not known here");
    } else if (!unions.has(failure.instancePath)) {
      problems.add(place, "INVALID_SHAPE", failure.message);
    }
  }
  return tolerant.has(expected) && failures.every(({ keyword }) => READABLE.has(keyword));
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
