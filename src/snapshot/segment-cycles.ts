import type { Placed } from "./list.js";
import type { Problems } from "./problem.js";
import { at, quote } from "./problem.js";
import type { Condition, Segment } from "./types.js";

interface Reference {
  segment: string;
  path: string;
}

/**
 * Reports each cycle of segments that read each other. A cycle through the lifecycle or a journey is none: a state is left, and a step
 * completed, once at an instant. No other cycles are possible: health reads events and traits, and nobody reads rules and signals.
 */
export function checkSegmentCycles(segments: Placed<Segment>[], problems: Problems): void {
  const references = new Map(segments.map(({ item, path }) => [item.id, referencesOf(item.when, at(path, "when"))]));
  const finished = new Set<string>();
  const trail: string[] = [];

  function visit(id: string): void {
    trail.push(id);
    for (const reference of references.get(id) ?? []) {
      const start = trail.indexOf(reference.segment);
      if (start >= 0) {
        const cycle = [...trail.slice(start), reference.segment].map(quote).join(" reads ");
        problems.add(reference.path, "SEGMENT_CYCLE", `segments must not read each other in a circle: ${cycle}`);
      } else if (!finished.has(reference.segment)) {
        visit(reference.segment);
      }
    }
    trail.pop();
    finished.add(id);
  }

  for (const id of references.keys()) if (!finished.has(id)) visit(id);
}

function referencesOf(condition: Condition | undefined, path: string): Reference[] {
  switch (condition?.kind) {
    case "all":
    case "any":
      return condition.conditions.flatMap((part, index) => referencesOf(part, at(at(path, "conditions"), index)));
    case "not":
      return referencesOf(condition.condition, at(path, "condition"));
    case "segment":
      return [{ segment: condition.segment, path: at(path, "segment") }];
    default:
      return [];
  }
}
