import { LIMITS } from "./limits.js";
import type { Problems } from "./problem.js";
import { at } from "./problem.js";

/** Keys that could reach the prototype of an object built from them. */
export const FORBIDDEN_KEYS: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);

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
