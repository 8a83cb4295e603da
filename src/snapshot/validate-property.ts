import { LIMITS } from "./limits.js";
import { at, quote } from "./problem.js";
import type { Scope } from "./scope.js";
import { unknown } from "./scope.js";
import { choose, fits } from "./shape.js";
import { PROPERTY_CONDITIONS, SELECTOR } from "./shapes.js";
import type { EventSelector, Field, PropertyCondition } from "./types.js";
import { checkComparison } from "./validate-comparison.js";

/** Checks which occurrences a condition reads: the event, and the filter on its properties. */
export function checkSelector(value: unknown, path: string, scope: Scope, depth: number): void {
  if (!fits(SELECTOR, value, path, scope.problems)) return;
  const { event, where } = value as EventSelector;
  if (!scope.events.has(event)) {
    const message = `there is no event ${quote(event)}`;
    unknown(scope.problems, at(path, "event"), "UNKNOWN_EVENT", message, event, scope.events.keys());
  }
  if (where === undefined) return;
  const properties = scope.events.get(event);
  checkPropertyCondition(where, at(path, "where"), { ...scope, event, properties }, depth + 1);
}

/**
 * The declared type of a property of the selected event; undefined where it cannot be told. Reported where the event has no such property.
 *
 * @param of a selector of any shape: what is wrong with it is reported elsewhere.
 */
export function propertyOf(of: unknown, property: string, path: string, scope: Scope): Field | undefined {
  const event = typeof of === "object" && of !== null ? (of as Partial<EventSelector>).event : undefined;
  if (typeof event !== "string") return undefined;
  return fieldOf(event, scope.events.get(event), property, path, scope);
}

function fieldOf(
  event: string,
  properties: Map<string, Field | undefined> | undefined,
  property: string,
  path: string,
  { problems }: Scope,
): Field | undefined {
  if (!properties) return undefined;
  if (!properties.has(property)) {
    const message = `the event ${quote(event)} has no property ${quote(property)}`;
    unknown(problems, path, "UNKNOWN_PROPERTY", message, property, properties.keys());
  }
  return properties.get(property);
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
    case "exists": {
      const field = fieldOf(scope.event, scope.properties, node.property, at(path, "property"), scope);
      if (field && node.kind === "compare") checkComparison(field, node, path, scope.problems);
      break;
    }
  }
}

/** Whether conditions are within more others than allowed; reported where they are. */
export function tooDeep(path: string, scope: Scope, depth: number): boolean {
  if (depth <= LIMITS.conditionDepth) return false;
  scope.problems.add(path, "TOO_DEEP", `conditions are nested more than ${LIMITS.conditionDepth} deep`);
  return true;
}
