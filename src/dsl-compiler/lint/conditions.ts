import { at, quote } from "../../model/snapshot/problem.js";
import type { Condition, EventSelector, Measure, Snapshot } from "../../model/snapshot/types.js";
import { isCalculated } from "../../model/snapshot/words.js";
import { neverHolds, neverTogether } from "../../model/validate/impossible.js";

/** Something in a valid snapshot that its author probably did not intend. */
export interface LintWarning {
  path: string;
  code:
    | "UNREACHABLE_STATE"
    | "CIRCLE_BY_TIME"
    | "UNUSED_EVENT"
    | "IMPOSSIBLE_CONDITION"
    | "POINTLESS_CONDITION"
    | "EMPTY_SEGMENT"
    | "SILENT_SIGNAL"
    | "LITERAL_PLACEHOLDER"
    | "FRACTIONAL_BANDS"
    | "RULE_LOOP";
  message: string;
}

/** Lints all conditions, and collects the events that anything reads, in the order of the snapshot's parts. */
export function lintConditions(snapshot: Snapshot): ConditionLinter {
  const linter = new ConditionLinter();
  snapshot.lifecycle?.states.forEach(({ transitions }, index) => {
    const path = at("lifecycle.states", index, "transitions");
    transitions.forEach(({ when }, position) => linter.condition(when, at(path, position, "when")));
  });
  snapshot.journeys.forEach((journey, index) => {
    const path = at("journeys", index);
    linter.condition(journey.start, at(path, "start"));
    journey.steps.forEach(({ when }, position) => linter.condition(when, at(path, "steps", position, "when")));
  });
  snapshot.segments.forEach(({ when }, index) => linter.optional(when, at("segments", index)));
  snapshot.health?.components.forEach(({ score }, index) => {
    const path = at("health.components", index, "score", "of");
    if (score.kind !== "map") linter.measure(score.of, path);
  });
  snapshot.rules.forEach(({ on, when }, index) => {
    const path = at("rules", index);
    if (on.kind === "event") linter.selector(on.of, at(path, "on", "of"));
    linter.optional(when, path);
  });
  snapshot.signals.forEach(({ when }, index) => linter.optional(when, at("signals", index)));
  return linter;
}

/** The findings in a snapshot's conditions, and in the selectors of its health and rules. */
class ConditionLinter {
  readonly warnings: LintWarning[] = [];
  readonly read = new Set<string>();
  /** Whether a condition asks when the customer was active, and so reads every event. */
  readsAll = false;

  optional(when: Condition | undefined, path: string): void {
    if (when) this.condition(when, at(path, "when"));
  }

  /** Reports only the innermost useless part: the conditions that contain it are useless because of it. */
  condition(condition: Condition, path: string): void {
    const before = this.warnings.length;
    this.parts(condition, path);
    if (this.warnings.length > before) return;
    const impossible = neverHolds(condition);
    if (impossible !== null) this.warnings.push({ path, code: "IMPOSSIBLE_CONDITION", message: impossible });
    const pointless = alwaysHolds(condition);
    if (pointless !== null) this.warnings.push({ path, code: "POINTLESS_CONDITION", message: pointless });
  }

  /** Notes that the event is read, and reports a filter that no event fits. */
  selector({ event, where }: EventSelector, path: string): void {
    this.read.add(event);
    const reason = where && neverTogether(where);
    if (!reason) return;
    const message = `no event ${quote(event)} fits the filter: ${reason}`;
    this.warnings.push({ path: at(path, "where"), code: "IMPOSSIBLE_CONDITION", message });
  }

  measure(measure: Measure, path: string): void {
    if (measure.kind === "trait") return;
    if (!isCalculated(measure)) return this.selector(measure.of, at(path, "of"));
    this.measure(measure.of, at(path, "of"));
    if (measure.kind === "ratio") this.measure(measure.per, at(path, "per"));
    else this.measure(measure.minus, at(path, "minus"));
  }

  private parts(condition: Condition, path: string): void {
    if (condition.kind === "not") {
      this.condition(condition.condition, at(path, "condition"));
    } else if (condition.kind === "all" || condition.kind === "any") {
      condition.conditions.forEach((part, index) => this.condition(part, at(path, "conditions", index)));
    } else if (condition.kind === "sequence") {
      this.selector(condition.first, at(path, "first"));
      this.selector(condition.then, at(path, "then"));
    } else if (condition.kind === "inactiveFor" || condition.kind === "activeWithin") {
      this.readsAll = true;
    } else if (isCalculated(condition)) {
      this.measure(condition, path);
    } else if ("of" in condition) {
      this.selector(condition.of, at(path, "of"));
    }
  }
}

function alwaysHolds(condition: Condition): string | null {
  if (condition.kind !== "count" && condition.kind !== "distinct") return null;
  if (condition.operator !== "gte" || condition.value !== 0) return null;
  const what = condition.kind === "count" ? "a count" : "a number of different values";
  return `${what} is always at least 0, so this condition always holds`;
}
