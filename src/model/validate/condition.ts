import { at, quote } from "../snapshot/problem.js";
import {
  checkDuration,
  checkJourney,
  checkSegment,
  type Place,
  requireLifecycle,
  type Scope,
  unknown,
} from "./scope.js";
import { choose, CONDITIONS } from "./shapes.js";
import type { Condition } from "../snapshot/types.js";
import { checkComparison, tooDeep } from "./property.js";
import { checkOccurrences } from "./occurrences.js";

type Of<Kind extends Condition["kind"]> = Extract<Condition, { kind: Kind }>;

const TOP: Place = { depth: 1, inJourney: false };

/** Checks a condition of any kind with all that is in it: shape, depth, references, types of values. */
export function checkCondition(value: unknown, path: string, scope: Scope, place: Place = TOP): void {
  if (tooDeep(path, scope, place.depth)) return;
  if (choose(CONDITIONS, "kind", value, path, scope.problems)) checkContent(value as Condition, path, scope, place);
}

function checkContent(value: Condition, path: string, scope: Scope, place: Place): void {
  const within = { ...place, depth: place.depth + 1 };
  switch (value.kind) {
    case "all":
    case "any":
      value.conditions.forEach((part, index) => checkCondition(part, at(at(path, "conditions"), index), scope, within));
      break;
    case "not":
      checkCondition(value.condition, at(path, "condition"), scope, within);
      break;
    case "count":
    case "aggregate":
    case "distinct":
    case "latest":
    case "latestExists":
    case "daysSince":
    case "sequence":
      checkOccurrences(value, path, scope, place);
      break;
    case "trait":
    case "traitExists":
    case "traitDateWithin":
    case "traitDatePassed":
      checkTrait(value, path, scope);
      break;
    case "inactiveFor":
    case "activeWithin":
      checkDuration(value.duration, at(path, "duration"), scope.problems);
      break;
    case "inState":
      checkDuration(value.atLeast, at(path, "atLeast"), scope.problems);
      requireLifecycle(path, scope);
      break;
    default:
      checkReference(value, path, scope);
  }
}

/** What asks for the value of another item of the model. */
function checkReference(
  node: Of<"lifecycle" | "segment" | "journey" | "journeyStep" | "health" | "healthBand">,
  path: string,
  scope: Scope,
): void {
  switch (node.kind) {
    case "lifecycle":
      checkStates(node, path, scope);
      break;
    case "segment":
      checkSegment(node.segment, at(path, "segment"), scope);
      break;
    case "journey":
      checkJourney(node.journey, at(path, "journey"), scope);
      break;
    case "journeyStep":
      checkJourney(node.journey, at(path, "journey"), scope);
      checkStep(node, at(path, "step"), scope);
      break;
    case "health":
      if (requireHealth(path, scope)) checkComponent(node, at(path, "component"), scope);
      break;
    case "healthBand":
      if (requireHealth(path, scope)) checkBands(node, at(path, "bands"), scope);
      break;
  }
}

function checkTrait(
  node: Of<"trait" | "traitExists" | "traitDateWithin" | "traitDatePassed">,
  path: string,
  scope: Scope,
): void {
  const { problems, traits } = scope;
  if (node.kind === "traitDateWithin") checkDuration(node.within, at(path, "within"), problems);
  if (node.kind === "traitDatePassed" && node.by !== undefined) checkDuration(node.by, at(path, "by"), problems);
  if (!traits) return;
  const place = at(path, "trait");
  if (!traits.has(node.trait)) {
    unknown(problems, place, "UNKNOWN_TRAIT", `there is no trait ${quote(node.trait)}`, node.trait, traits.keys());
    return;
  }
  const field = traits.get(node.trait);
  if (!field) return;
  if (node.kind === "trait") {
    checkComparison(field, node, path, problems);
  } else if (node.kind !== "traitExists" && field.type !== "date") {
    const message = `the trait ${quote(node.trait)} is of the type ${field.type}, not date`;
    problems.add(place, "TYPE_MISMATCH", message);
  }
}

function checkStates(node: Of<"lifecycle">, path: string, scope: Scope): void {
  const { states, problems } = scope;
  if (!requireLifecycle(path, scope) || !states) return;
  node.states.forEach((state, index) => {
    if (states.has(state)) return;
    const place = at(at(path, "states"), index);
    unknown(problems, place, "UNKNOWN_STATE", `the lifecycle has no state ${quote(state)}`, state, states);
  });
}

function checkStep(node: Of<"journeyStep">, path: string, { journeys, problems }: Scope): void {
  const steps = journeys?.get(node.journey);
  if (!steps || steps.has(node.step)) return;
  const message = `the journey ${quote(node.journey)} has no step ${quote(node.step)}`;
  unknown(problems, path, "UNKNOWN_STEP", message, node.step, steps);
}

function requireHealth(path: string, { health, problems }: Scope): boolean {
  if (health !== null) return true;
  problems.add(path, "NO_HEALTH", "the model has no health score to refer to");
  return false;
}

function checkComponent({ component }: Of<"health">, path: string, { health, problems }: Scope): void {
  const components = health?.components;
  if (component === undefined || !components || components.has(component)) return;
  const message = `the health score has no component ${quote(component)}`;
  unknown(problems, path, "UNKNOWN_COMPONENT", message, component, components);
}

function checkBands(node: Of<"healthBand">, path: string, { health, problems }: Scope): void {
  const bands = health?.bands;
  if (!bands) return;
  node.bands.forEach((band, index) => {
    if (bands.has(band)) return;
    unknown(problems, at(path, index), "UNKNOWN_BAND", `the health score has no band ${quote(band)}`, band, bands);
  });
}
