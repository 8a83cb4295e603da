import type typescript from "typescript";

/**
 * What a draft may be written with. The lists are closed: a name that the language gains later is refused in drafts until it stands here,
 * and a test compares them with the language (`src/dsl`), so that this is noticed.
 */

/** The package, which takes a while to load and is loaded where there is a draft only. */
export type Ts = typeof typescript;

/** A mistake at a place of the text, in UTF-16 units from its beginning. */
export interface Found {
  start: number;
  end: number;
  code: "DRAFT_NOT_ALLOWED" | "DRAFT_TOO_LARGE" | "DRAFT_TOO_DEEP" | "SYNTAX_ERROR";
  message: string;
  fix: string;
}

/** More than any model nests; conditions of a snapshot may be 32 deep, and each is a call within an argument. */
export const DEPTH_MAX = 100;

/** The one thing that a draft imports to name it, not to call it. */
export const TRAITS_CHANGED = "traitsChanged";

/** What a draft may import from "svc". */
export const IMPORTED: ReadonlySet<string> = new Set([
  ...["activeWithin", "addTo", "all", "any", "array", "boolean", "clear", "date", "daysSince", "daysSinceFirst"],
  ...["defineModel", "emit", "event", "health", "inState", "inactiveFor", "journey", "lifecycle", "not", "number"],
  ...["oneOf", "raise", "removeFrom", "rule", "scale", "segment", "sequence", "signal", "step", "steps", "string"],
  ...["traits", TRAITS_CHANGED],
]);

/** Those that declare something which is named elsewhere by its id: naming it again makes a model no larger. */
export const DECLARING: ReadonlySet<string> = new Set([
  ...["event", "traits", "lifecycle", "journey", "segment", "health", "signal", "rule"],
]);

/** What may be asked of what those return. */
export const MEMBERS: ReadonlySet<string> = new Set([
  ...["after", "atLeast", "atMost", "atStep", "avg", "band", "before", "cleared", "completed", "component", "contains"],
  ...["count", "distinct", "entered", "equals", "exists", "exited", "happened", "has", "in", "is", "isNot", "latest"],
  ...["lessThan", "map", "max", "min", "missing", "moreThan", "never", "notEquals", "notIn", "onOrAfter", "onOrBefore"],
  ...["optional", "overall", "passed", "raised", "since", "sum", "where", "within"],
]);

/** Names that objects and functions of JavaScript have of themselves. A draft neither asks for them nor gives them to a member. */
export const FORBIDDEN: ReadonlySet<string> = new Set([
  ...Object.getOwnPropertyNames(Object.prototype),
  ...Object.getOwnPropertyNames(Function.prototype).filter((name) => name !== "name" && name !== "length"),
  ...["prototype", "toJSON"],
]);

export const LANGUAGE_ONLY = 'write the model with what "svc" exports, and nothing else';
