import type { TLocalizedValidationError } from "typebox/error";

/** A problem of a request: the path of the field, its value if that is small, the reason, and what to do. */
export interface ShapeProblem {
  message: string;
  field?: string;
  value?: unknown;
  reason?: string;
  fix?: string;
}

const BY_URGENCY = ["type", "required", "minLength"];
const SHOWN_NAME_MAX = 100;
const SHOWN_VALUE_MAX = 200;

/**
 * The first of a schema's errors in our wording. `operation` includes its article; `known` are the fields that it may have. Unknown members come
 * last, because a misspelt member also shows up as a missing one, and are searched here, because the schema reports only its first few errors.
 */
export function firstShapeProblem(
  errors: readonly TLocalizedValidationError[],
  value: unknown,
  path: string,
  operation: string,
  known: readonly string[],
): ShapeProblem {
  const error = BY_URGENCY.map((keyword) => errors.find((each) => each.keyword === keyword)).find(Boolean);
  if (error === undefined) return unknownMember(value, path, operation, known);
  const params = error.params as { type?: string; requiredProperties?: string[] };
  // Operations are checked one level deep, so it is "" or "/field".
  const own = error.instancePath.slice(1);
  const field = join(path, own);
  switch (error.keyword) {
    case "required": {
      const missing = join(path, params.requiredProperties?.[0] ?? "");
      return { message: `\`${missing}\` is required.`, field: missing, fix: "Add the field." };
    }
    case "minLength":
      return { message: `\`${field}\` must not be empty.`, field, value: "", fix: "Send a non-empty string." };
    default:
      return wrongType(field, params.type ?? "", own === "" ? value : (value as Record<string, unknown>)[own]);
  }
}

function unknownMember(value: unknown, path: string, operation: string, known: readonly string[]): ShapeProblem {
  const name = Object.keys(value as object).find((member) => !known.includes(member));
  if (name === undefined) throw new Error("the schema refused an operation for a reason that has no message");
  const field = join(path, shownName(name));
  return {
    message: `\`${field}\` is not a field of ${operation} operation.`,
    field,
    fix: `Remove it. Known fields: ${known.join(", ")}.`,
  };
}

function wrongType(field: string, type: string, actual: unknown): ShapeProblem {
  const expected = type === "object" ? "an object" : `a ${type}`;
  return {
    message: field === "" ? "The body must be a JSON object." : `\`${field}\` must be ${expected}.`,
    ...(field === "" ? {} : { field }),
    value: shortValue(actual),
    fix: `Send ${expected}.`,
  };
}

/** The path of a field of the operation at `path`. */
export function join(path: string, field: string): string {
  return [path, field].filter((part) => part !== "").join(".");
}

/** A name short enough to be shown in an error. */
export function shownName(name: string): string {
  return name.length <= SHOWN_NAME_MAX ? name : `${name.slice(0, SHOWN_NAME_MAX)}…`;
}

/** A value small enough to be shown in an error; larger ones are left out. */
export function shortValue(value: unknown): unknown {
  return isSmall(value, 3) && JSON.stringify(value).length <= SHOWN_VALUE_MAX ? value : undefined;
}

/** Checked before JSON.stringify, which fails on values that are nested very deeply. */
function isSmall(value: unknown, levels: number): boolean {
  if (typeof value === "string") return value.length <= SHOWN_VALUE_MAX;
  if (typeof value !== "object" || value === null) return true;
  if (levels === 0) return false;
  const members = Object.values(value);
  return members.length <= SHOWN_VALUE_MAX && members.every((member) => isSmall(member, levels - 1));
}
