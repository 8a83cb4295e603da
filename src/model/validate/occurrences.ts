import { LIMITS } from "../snapshot/limits.js";
import { at, quote } from "../snapshot/problem.js";
import { checkDuration, checkJourney, type Place, requireLifecycle, type Scope } from "./scope.js";
import { fits, SINCE_JOURNEY } from "./shapes.js";
import type { Condition, Field, Measure, OccurrenceScope } from "../snapshot/types.js";
import { checkComparison, checkSelector, propertyOf } from "./property.js";

type Kind = "count" | "aggregate" | "distinct" | "latest" | "latestExists" | "daysSince" | "sequence";

/** Checks a condition that reads occurrences of events. Its own shape is sound. */
export function checkOccurrences(
  node: Extract<Condition, { kind: Kind }>,
  path: string,
  scope: Scope,
  { depth, inJourney }: Place,
): void {
  if (node.kind === "sequence") {
    checkDuration(node.within, at(path, "within"), scope.problems);
    checkSince(node.since, at(path, "since"), scope);
    checkSelector(node.first, at(path, "first"), scope, depth);
    checkSelector(node.then, at(path, "then"), scope, depth);
    return;
  }
  checkWhatIsRead(node, path, scope, depth);
  if (node.kind === "count" || node.kind === "distinct") {
    checkRemembered(node, node.value, at(path, "value"), scope, inJourney);
  } else if (node.kind === "latest") {
    const field = propertyOf(node.of, node.property, at(path, "property"), scope);
    if (field) checkComparison(field, node, path, scope.problems);
  } else if (node.kind === "latestExists") {
    propertyOf(node.of, node.property, at(path, "property"), scope);
  }
}

/** Checks a number that a score is made of, other than a trait. Its own shape is sound. */
export function checkOccurrenceMeasure(
  node: Exclude<Measure, { kind: "trait" }>,
  path: string,
  scope: Scope,
  most: { value: number; path: string },
): void {
  checkWhatIsRead(node, path, scope, 0);
  if (node.kind === "count" || node.kind === "distinct") checkRemembered(node, most.value, most.path, scope, false);
  if (node.kind === "latest") requireType(node, ["number"], "a score is made of", path, scope);
}

/** Scope, selector, and that the property can be computed with. */
function checkWhatIsRead(
  node: Exclude<Extract<Condition, { kind: Kind }>, { kind: "sequence" }> | Exclude<Measure, { kind: "trait" }>,
  path: string,
  scope: Scope,
  depth: number,
): void {
  if (node.kind !== "daysSince") checkScope(node, path, scope);
  checkSelector(node.of, at(path, "of"), scope, depth);
  if (node.kind === "aggregate") requireType(node, ["number"], `"${node.function}" is computed of`, path, scope);
  if (node.kind === "distinct") {
    requireType(node, ["string", "number", "boolean", "date"], "different values are counted of", path, scope);
  }
}

function requireType(
  node: { of: unknown; property: string },
  types: Field["type"][],
  purpose: string,
  path: string,
  scope: Scope,
): void {
  const place = at(path, "property");
  const field = propertyOf(node.of, node.property, place, scope);
  if (!field || types.includes(field.type)) return;
  const asked = types.length === 1 ? `the type ${types[0]!}` : `the types ${types.join(", ")}`;
  const message = `${purpose} properties of ${asked}; ${quote(node.property)} is of the type ${field.type}`;
  scope.problems.add(place, "TYPE_MISMATCH", message);
}

function checkScope(node: OccurrenceScope, path: string, scope: Scope): void {
  if (node.within !== undefined) checkDuration(node.within, at(path, "within"), scope.problems);
  checkSince(node.since, at(path, "since"), scope);
  if (node.within !== undefined && node.since !== undefined) {
    const message = `occurrences are those in a window ("within") or since a start ("since"), not both`;
    scope.problems.add(path, "INVALID_SHAPE", message);
  }
}

function checkSince(since: unknown, path: string, scope: Scope): void {
  if (since === undefined) return;
  if (since === "state") {
    requireLifecycle(path, scope);
  } else if (typeof since !== "object") {
    scope.problems.add(path, "INVALID_SHAPE", `must be "state", or an object that names a journey`);
  } else if (fits(SINCE_JOURNEY, since, path, scope.problems)) {
    checkJourney((since as { journey: string }).journey, at(path, "journey"), scope);
  }
}

/** A number of occurrences among those that may cease to count needs as many of them remembered; different values are always remembered. */
function checkRemembered(
  node: OccurrenceScope & { kind: "count" | "distinct" },
  value: number,
  path: string,
  { problems }: Scope,
  inJourney: boolean,
): void {
  if (value <= LIMITS.windowedCount) return;
  const forever = node.within === undefined && node.since === undefined && !inJourney;
  if (node.kind === "distinct") {
    problems.add(path, "TOO_MANY", `different values are counted up to ${LIMITS.windowedCount}`);
  } else if (!forever) {
    const message = `a count over a window, or since a start, compares with at most ${LIMITS.windowedCount}`;
    problems.add(path, "TOO_MANY", message);
  }
}
