import { LIMITS } from "./limits.js";
import { at, quote } from "./problem.js";
import type { Scope } from "./scope.js";
import { checkDuration } from "./scope.js";
import { choose, CONDITIONS, fits, PROPERTY_CONDITIONS, SELECTOR } from "./shapes.js";
import type { Condition, EventSelector, Field, PropertyCondition } from "./types.js";
import { checkComparison } from "./validate-comparison.js";

type Of<Kind extends Condition["kind"]> = Extract<Condition, { kind: Kind }>;

/** Checks a condition of any kind with all that is in it: shape, depth, references, types of values. */
export function checkCondition(value: unknown, path: string, scope: Scope, depth = 1): void {
  if (tooDeep(path, scope, depth)) return;
  if (choose(CONDITIONS, "kind", value, path, scope.problems)) checkContent(value as Condition, path, scope, depth);
}

function checkContent(value: Condition, path: string, scope: Scope, depth: number): void {
  switch (value.kind) {
    case "all":
    case "any":
      value.conditions.forEach((part, index) =>
        checkCondition(part, at(at(path, "conditions"), index), scope, depth + 1),
      );
      break;
    case "not":
      checkCondition(value.condition, at(path, "condition"), scope, depth + 1);
      break;
    case "count":
      checkCount(value, path, scope, depth);
      break;
    case "trait":
    case "traitExists":
    case "traitDateWithin":
      checkTrait(value, path, scope);
      break;
    case "inactiveFor":
    case "activeWithin":
      checkDuration(value.duration, at(path, "duration"), scope.problems);
      break;
    case "lifecycle":
      checkStates(value, path, scope);
      break;
    case "inState":
      checkDuration(value.atLeast, at(path, "atLeast"), scope.problems);
      requireLifecycle(path, scope);
      break;
    case "segment":
      if (scope.segments && !scope.segments.has(value.segment)) {
        scope.problems.add(at(path, "segment"), "UNKNOWN_SEGMENT", `there is no segment ${quote(value.segment)}`);
      }
      break;
  }
}

function checkCount(node: Of<"count">, path: string, scope: Scope, depth: number): void {
  const { problems } = scope;
  if (node.within !== undefined) checkDuration(node.within, at(path, "within"), problems);
  if (node.since !== undefined) requireLifecycle(at(path, "since"), scope);
  if (node.within !== undefined && node.since !== undefined) {
    problems.add(
      path,
      "INVALID_SHAPE",
      `a count is over a window ("within") or since the state was entered ("since"), not both`,
    );
  }
  if (node.within !== undefined && node.value > LIMITS.windowedCount) {
    problems.add(at(path, "value"), "TOO_MANY", `a count over a window compares with at most ${LIMITS.windowedCount}`);
  }
  const place = at(path, "of");
  if (fits(SELECTOR, node.of, place, problems)) checkSelector(node.of, place, scope, depth);
}

function checkSelector(selector: EventSelector, path: string, scope: Scope, depth: number): void {
  if (!scope.events.has(selector.event)) {
    scope.problems.add(at(path, "event"), "UNKNOWN_EVENT", `there is no event ${quote(selector.event)}`);
  }
  if (selector.where === undefined) return;
  const properties = scope.events.get(selector.event);
  checkPropertyCondition(selector.where, at(path, "where"), { ...scope, event: selector.event, properties }, depth + 1);
}

interface PropertyScope extends Scope {
  event: string;
  properties: Map<string, Field | undefined> | undefined;
}

function checkPropertyCondition(value: unknown, path: string, scope: PropertyScope, depth: number): void {
  if (tooDeep(path, scope, depth)) return;
  if (!choose(PROPERTY_CONDITIONS, "kind", value, path, scope.problems)) return;
  const node = value as PropertyCondition;
  switch (node.kind) {
    case "all":
    case "any":
      node.conditions.forEach((part, index) =>
        checkPropertyCondition(part, at(at(path, "conditions"), index), scope, depth + 1),
      );
      break;
    case "not":
      checkPropertyCondition(node.condition, at(path, "condition"), scope, depth + 1);
      break;
    case "compare":
    case "exists":
      checkProperty(node, path, scope);
      break;
  }
}

function checkProperty(
  node: Extract<PropertyCondition, { kind: "compare" | "exists" }>,
  path: string,
  { event, properties, problems }: PropertyScope,
): void {
  if (!properties) return;
  if (!properties.has(node.property)) {
    const message = `the event ${quote(event)} has no property ${quote(node.property)}`;
    problems.add(at(path, "property"), "UNKNOWN_PROPERTY", message);
    return;
  }
  const field = properties.get(node.property);
  if (field && node.kind === "compare") checkComparison(field, node, path, problems);
}

function checkTrait(node: Of<"trait" | "traitExists" | "traitDateWithin">, path: string, scope: Scope): void {
  const { problems, traits } = scope;
  if (node.kind === "traitDateWithin") checkDuration(node.within, at(path, "within"), problems);
  if (!traits) return;
  if (!traits.has(node.trait)) {
    problems.add(at(path, "trait"), "UNKNOWN_TRAIT", `there is no trait ${quote(node.trait)}`);
    return;
  }
  const field = traits.get(node.trait);
  if (!field) return;
  if (node.kind === "trait") checkComparison(field, node, path, problems);
  if (node.kind === "traitDateWithin" && field.type !== "date") {
    problems.add(
      at(path, "trait"),
      "TYPE_MISMATCH",
      `the trait ${quote(node.trait)} is of the type ${field.type}, not date`,
    );
  }
}

function checkStates(node: Of<"lifecycle">, path: string, scope: Scope): void {
  if (!requireLifecycle(path, scope)) return;
  node.states.forEach((state, index) => {
    if (scope.states && !scope.states.has(state)) {
      scope.problems.add(at(at(path, "states"), index), "UNKNOWN_STATE", `the lifecycle has no state ${quote(state)}`);
    }
  });
}

function requireLifecycle(path: string, scope: Scope): boolean {
  if (scope.states !== null) return true;
  scope.problems.add(path, "NO_LIFECYCLE", "the model has no lifecycle to refer to");
  return false;
}

function tooDeep(path: string, scope: Scope, depth: number): boolean {
  if (depth <= LIMITS.conditionDepth) return false;
  scope.problems.add(path, "TOO_DEEP", `conditions are nested more than ${LIMITS.conditionDepth} deep`);
  return true;
}
