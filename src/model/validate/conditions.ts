import { isIsoDate } from "../snapshot/duration.js";
import { LIMITS } from "../snapshot/limits.js";
import { at, list, type Problems, quote } from "../snapshot/problem.js";
import type * as Node from "../snapshot/types.js";
import { isCalculated } from "../snapshot/words.js";
import { checkDuration, checkReference, requireHealth, requireLifecycle, type Scope } from "./scope.js";
import {
  choose,
  CONDITIONS,
  fits,
  MEASURES,
  noPreviousWindow,
  PROPERTY_CONDITIONS,
  SELECTOR,
  SINCE_JOURNEY,
} from "./shapes.js";

type Of<Kind extends Node.Condition["kind"]> = Extract<Node.Condition, { kind: Kind }>;
type Check<Node> = (node: Node, path: string, scope: Scope, depth: number) => void;

/**
 * Checks a condition of any kind with everything in it: shape, depth, references, types of values.
 *
 * @param depth the nesting level of the condition, from 1
 */
export function checkCondition(value: unknown, path: string, scope: Scope, depth = 1): void {
  if (tooDeep(path, scope, depth)) return;
  if (!choose(CONDITIONS, "kind", value, path, scope.problems)) return;
  const node = value as Node.Condition;
  (CHECKS[node.kind] as Check<Node.Condition>)(node, path, scope, depth);
}

const checkParts: Check<Of<"all" | "any">> = ({ conditions }, path, scope, depth) =>
  conditions.forEach((part, index) => checkCondition(part, at(path, "conditions", index), scope, depth + 1));

const checkRead: Check<Of<"count" | "aggregate" | "latestExists" | "daysSince">> = (node, path, scope, depth) =>
  void checkReading(node, path, scope, depth);

const checkActivity: Check<Of<"inactiveFor" | "activeWithin">> = ({ duration }, path, { problems }) =>
  checkDuration(duration, at(path, "duration"), problems);

/** The checks for each kind of condition, in addition to its shape. */
const CHECKS: { readonly [Kind in Node.Condition["kind"]]: Check<Of<Kind>> } = {
  all: checkParts,
  any: checkParts,
  not: ({ condition }, path, scope, depth) => checkCondition(condition, at(path, "condition"), scope, depth + 1),
  count: checkRead,
  distinct: (node, path, scope, depth) => {
    checkReading(node, path, scope, depth);
    checkDistinctCount(node.value, at(path, "value"), scope);
  },
  aggregate: checkRead,
  latest: (node, path, scope, depth) => {
    const field = checkReading(node, path, scope, depth);
    if (field) checkComparison(field, node, path, scope.problems);
  },
  latestExists: checkRead,
  daysSince: checkRead,
  ratio: (node, path, scope) => checkOperands(node, path, scope),
  difference: (node, path, scope) => checkOperands(node, path, scope),
  sequence: ({ first, then, within, since }, path, scope, depth) => {
    checkDuration(within, at(path, "within"), scope.problems);
    checkSince(since, at(path, "since"), scope);
    checkSelector(first, at(path, "first"), scope, depth);
    checkSelector(then, at(path, "then"), scope, depth);
  },
  trait: (node, path, scope) => {
    const field = traitOf(node.trait, at(path, "trait"), scope);
    if (field) checkComparison(field, node, path, scope.problems);
  },
  traitExists: ({ trait }, path, scope) => void traitOf(trait, at(path, "trait"), scope),
  traitDateWithin: ({ trait, within }, path, scope) => {
    checkDuration(within, at(path, "within"), scope.problems);
    traitOfType(trait, "date", at(path, "trait"), scope);
  },
  traitDatePassed: ({ trait, by }, path, scope) => {
    checkDuration(by, at(path, "by"), scope.problems);
    traitOfType(trait, "date", at(path, "trait"), scope);
  },
  inactiveFor: checkActivity,
  activeWithin: checkActivity,
  inState: ({ atLeast }, path, scope) => {
    checkDuration(atLeast, at(path, "atLeast"), scope.problems);
    requireLifecycle(path, scope);
  },
  lifecycle: ({ states }, path, scope) => {
    if (!requireLifecycle(path, scope)) return;
    states.forEach((state, index) => checkReference("state", state, at(path, "states", index), scope));
  },
  segment: ({ segment }, path, scope) => checkReference("segment", segment, at(path, "segment"), scope),
  journey: ({ journey }, path, scope) => checkReference("journey", journey, at(path, "journey"), scope),
  journeyStep: ({ journey, step }, path, scope) => {
    checkReference("journey", journey, at(path, "journey"), scope);
    checkReference("step", step, at(path, "step"), scope, journey);
  },
  health: ({ component }, path, scope) => {
    if (requireHealth(path, scope) && component !== undefined)
      checkReference("component", component, at(path, "component"), scope);
  },
  healthBand: ({ bands }, path, scope) => {
    if (requireHealth(path, scope))
      bands.forEach((band, index) => checkReference("band", band, at(path, "bands", index), scope));
  },
};

/** Checks the measure of a score. @param most the number up to which a score counts different values, and its path */
export function checkMeasure(value: unknown, path: string, scope: Scope, most: { value: number; path: string }): void {
  if (!choose(MEASURES, "kind", value, path, scope.problems)) return;
  const measure = value as Node.Measure;
  if (measure.kind === "trait") traitOfType(measure.trait, "number", at(path, "trait"), scope);
  else if (isCalculated(measure)) checkOperands(measure, path, scope);
  else {
    const field = checkReading(measure, path, scope, 0);
    if (measure.kind === "distinct") checkDistinctCount(most.value, most.path, scope);
    if (measure.kind === "latest") requireType(field, measure.property, ["number"], "a score", path, scope);
  }
}

/** Checks the two operands of a calculated measure. Its own shape was already checked. */
function checkOperands(node: Node.CalculatedMeasure, path: string, scope: Scope, depth = 1): void {
  if (depth > LIMITS.calculationDepth) {
    const message = `ratios and differences are nested more than ${LIMITS.calculationDepth} deep`;
    scope.problems.add(path, "TOO_DEEP", message);
    return;
  }
  checkOperand(node.of, at(path, "of"), scope, depth);
  if (node.kind === "ratio") checkOperand(node.per, at(path, "per"), scope, depth);
  else checkOperand(node.minus, at(path, "minus"), scope, depth);
}

function checkOperand(value: unknown, path: string, scope: Scope, depth: number): void {
  if (!choose(MEASURES, "kind", value, path, scope.problems)) return;
  const measure = value as Node.Measure;
  if (isCalculated(measure)) checkOperands(measure, path, scope, depth + 1);
  else if (measure.kind === "trait") traitOfType(measure.trait, "number", at(path, "trait"), scope);
  else if (measure.kind === "daysSince") {
    const message = `days since an event grow for ever, so ratios and differences cannot use them: the result could change every day, without end`;
    scope.problems.add(path, "INVALID_SHAPE", message);
  } else {
    const field = checkReading(measure, path, scope, 0);
    if (measure.kind === "latest") requireType(field, measure.property, ["number"], "a calculation", path, scope);
  }
}

/** The declared type of a trait, if known. Reports a trait that does not exist. */
function traitOf(trait: string, path: string, scope: Scope): Node.Field | undefined {
  checkReference("trait", trait, path, scope);
  return scope.traits?.get(trait);
}

/** The declared type of a trait, if it is the required one; any other is reported. */
export function traitOfType(trait: string, type: Node.Field["type"], path: string, scope: Scope) {
  const field = traitOf(trait, path, scope);
  if (!field || field.type === type) return field;
  scope.problems.add(path, "TYPE_MISMATCH", `the trait ${quote(trait)} is of the type ${field.type}, not ${type}`);
  return undefined;
}

/** A condition or measure that reads the occurrences of one event. */
type Reading =
  | Of<"count" | "distinct" | "aggregate" | "latest" | "latestExists" | "daysSince">
  | Exclude<Node.Measure, { kind: "trait" } | Node.CalculatedMeasure>;

/** Checks the selected occurrences and whether the property suits the computation. Returns the declared type of the property, if known. */
function checkReading(node: Reading, path: string, scope: Scope, depth: number): Node.Field | undefined {
  if (node.kind !== "daysSince") checkScope(node, path, scope);
  checkPrevious(node, path, scope);
  checkSelector(node.of, at(path, "of"), scope, depth);
  if (!("property" in node)) return undefined;
  // Problems of the selector itself were already reported.
  const event: unknown = (node.of as Partial<Node.EventSelector> | null | undefined)?.event;
  if (typeof event !== "string") return undefined;
  const field = propertyOf(event, node.property, at(path, "property"), scope);
  if (node.kind === "aggregate") {
    requireType(field, node.property, ["number"], `"${node.function}"`, path, scope);
  } else if (node.kind === "distinct") {
    const scalars: Node.ScalarType[] = ["string", "number", "boolean", "date"];
    requireType(field, node.property, scalars, "a count of different values", path, scope);
  }
  return field;
}

function requireType(
  field: Node.Field | undefined,
  property: string,
  types: Node.Field["type"][],
  reader: string,
  path: string,
  { problems }: Scope,
): void {
  if (!field || types.includes(field.type)) return;
  const needed = types.length === 1 ? `the type ${types[0]!}` : `one of the types ${types.join(", ")}`;
  const message = `${reader} needs a property of ${needed}; ${quote(property)} is of the type ${field.type}`;
  problems.add(at(path, "property"), "TYPE_MISMATCH", message);
}

function checkScope({ within, since }: Node.OccurrenceScope, path: string, scope: Scope): void {
  checkDuration(within, at(path, "within"), scope.problems);
  checkSince(since, at(path, "since"), scope);
  if (within !== undefined && since !== undefined) {
    const message = `occurrences count either in a window ("within") or since a start ("since"), not both`;
    scope.problems.add(path, "INVALID_SHAPE", message);
  }
}

/** The previous window is computed as a window of twice the length minus the window, so only numbers that can be subtracted allow it. */
function checkPrevious(node: Reading & { previous?: true }, path: string, { problems }: Scope): void {
  if (!node.previous) return;
  const memberPath = at(path, "previous");
  if (node.kind === "aggregate" && (node.function === "min" || node.function === "max"))
    problems.add(memberPath, "INVALID_SHAPE", noPreviousWindow(`the ${node.function}`));
  else if (!("within" in node))
    problems.add(memberPath, "INVALID_SHAPE", `the previous window needs the length of a window ("within")`);
}

function checkSince(since: unknown, path: string, scope: Scope): void {
  if (since === undefined) return;
  if (since === "state") requireLifecycle(path, scope);
  else if (typeof since !== "object" || since === null)
    scope.problems.add(path, "INVALID_SHAPE", `must be "state", or an object that names a journey`);
  else if (fits(SINCE_JOURNEY, since, path, scope.problems))
    checkReference("journey", (since as { journey: string }).journey, at(path, "journey"), scope);
}

/** Limits the number with which a distinct count is compared, since a state stores that many values. */
function checkDistinctCount(value: number, path: string, { problems }: Scope): void {
  if (value <= LIMITS.distinctCount) return;
  const message = `a number of different values can be compared with at most ${LIMITS.distinctCount}, not with ${value}`;
  problems.add(path, "COUNT_TOO_LARGE", message);
}

/** Checks a selector: the event, and the filter on its properties. */
export function checkSelector(value: unknown, path: string, scope: Scope, depth: number): void {
  if (!fits(SELECTOR, value, path, scope.problems)) return;
  const { event, where } = value as Node.EventSelector;
  checkReference("event", event, at(path, "event"), scope);
  if (where !== undefined) checkFilter(where, event, at(path, "where"), scope, depth + 1);
}

function checkFilter(value: unknown, event: string, path: string, scope: Scope, depth: number): void {
  if (tooDeep(path, scope, depth)) return;
  if (!choose(PROPERTY_CONDITIONS, "kind", value, path, scope.problems)) return;
  const node = value as Node.PropertyCondition;
  if ("conditions" in node) {
    node.conditions.forEach((part, index) => checkFilter(part, event, at(path, "conditions", index), scope, depth + 1));
  } else if ("condition" in node) {
    checkFilter(node.condition, event, at(path, "condition"), scope, depth + 1);
  } else {
    const field = propertyOf(event, node.property, at(path, "property"), scope);
    if (field && node.kind === "compare") checkComparison(field, node, path, scope.problems);
  }
}

/** The declared type of a property, if known. Reports a property that the event does not have. */
function propertyOf(event: string, property: string, path: string, scope: Scope): Node.Field | undefined {
  checkReference("property", property, path, scope, event);
  return scope.events.get(event)?.get(property);
}

/** Whether conditions are nested too deep, which is reported. */
function tooDeep(path: string, { problems }: Scope, depth: number): boolean {
  if (depth <= LIMITS.conditionDepth) return false;
  problems.add(path, "TOO_DEEP", `conditions are nested more than ${LIMITS.conditionDepth} deep`);
  return true;
}

const ORDERS: Node.CompareOperator[] = ["lt", "lte", "gt", "gte"];

/** The comparisons that each type allows. */
const OPERATORS: Record<Node.Field["type"], readonly Node.CompareOperator[]> = {
  string: ["eq", "ne", "in", "notIn", "contains"],
  number: ["eq", "ne", "in", "notIn", ...ORDERS],
  boolean: ["eq", "ne"],
  date: ["eq", "ne", ...ORDERS],
  array: ["contains"],
};

/** Checks that a comparison fits the declared type of the compared field: operator, type of the value, enum. */
function checkComparison(
  field: Node.Field,
  { operator, value }: { operator: Node.CompareOperator; value: Node.Scalar | Node.Scalar[] },
  path: string,
  problems: Problems,
): void {
  if (!OPERATORS[field.type].includes(operator)) {
    const message = `a value of the type ${field.type} cannot be compared by "${operator}", only by ${list(OPERATORS[field.type])}`;
    problems.add(at(path, "operator"), "TYPE_MISMATCH", message);
    return;
  }
  const memberPath = at(path, "value");
  const expected = expectedValue(field, operator);
  if (operator === "in" || operator === "notIn") {
    if (!Array.isArray(value))
      problems.add(memberPath, "TYPE_MISMATCH", `"${operator}" compares with a list of values`);
    else value.forEach((item, index) => checkValue(expected, item, at(memberPath, index), problems));
  } else if (Array.isArray(value)) {
    problems.add(memberPath, "TYPE_MISMATCH", `"${operator}" compares with one value, not with a list`);
  } else checkValue(expected, value, memberPath, problems);
}

function expectedValue(field: Node.Field, operator: Node.CompareOperator): { type: Node.ScalarType; enum?: string[] } {
  if (field.type === "array") return field.items;
  // With `contains`, the value may be part of an allowed text.
  if (field.type === "string" && operator !== "contains") return field;
  return { type: field.type };
}

function checkValue(expected: ReturnType<typeof expectedValue>, value: Node.Scalar, path: string, problems: Problems) {
  const type = expected.type === "date" ? "string" : expected.type;
  if (typeof value !== type) {
    problems.add(path, "TYPE_MISMATCH", `must be of the type ${expected.type}, as declared`);
  } else if (expected.type === "date" && !isIsoDate(value as string)) {
    const message = `${quote(value as string)} is neither an ISO 8601 date nor a date-time with a zone`;
    problems.add(path, "INVALID_VALUE", message);
  } else if (expected.enum) checkChoice(expected.enum, value as string, path, problems);
}

/** Checks that a text is one of the declared values of its field. */
export function checkChoice(declared: readonly string[], value: string, path: string, problems: Problems): void {
  if (declared.includes(value)) return;
  const message = `${quote(value)} is not one of the declared values ${list(declared)}`;
  problems.addNear(path, "INVALID_VALUE", message, value, declared);
}
