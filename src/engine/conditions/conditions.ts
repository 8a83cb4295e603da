import type { Condition, Measure } from "../../model/snapshot/types.js";
import type { ConditionContext, ModelContext } from "../compile-context.js";
import type { BoundaryOf, NextChange, Reads } from "../evaluation-context.js";
import { compileCountLeaf } from "../measures/count.js";
import { compileLatest, compileMeasured, compileSequence } from "./events.js";
import { type CompiledCondition, compileGroup, compileLeaf, compileNot, type Leaf } from "./leaf.js";
import { compileActivity, compileDate, compileInState } from "./time.js";
import {
  compileHealth,
  compileHealthBand,
  compileJourney,
  compileJourneyStep,
  compileLifecycle,
  compileSegment,
  compileTrait,
} from "./values.js";

/** The conditions of one item of a model, compiled together: they share what they read and when it changes. */
export class ConditionCompiler {
  readonly reads: Reads = { items: new Set(), streams: new Set(), aggregates: new Set(), activity: false };

  constructor(private readonly model: ModelContext) {}

  /**
   * Compiles a condition.
   *
   * @param changes gets the changes by time alone of the condition's whole tree
   * @param boundary from when on what says nothing itself counts: in a step of a journey
   */
  compile(condition: Condition, changes: NextChange[], boundary?: BoundaryOf): CompiledCondition {
    switch (condition.kind) {
      case "all":
      case "any": {
        const before = changes.length;
        const parts = condition.conditions.map((inner) => this.compile(inner, changes, boundary));
        return compileGroup(condition.kind, parts, changes.slice(before));
      }
      case "not":
        return compileNot(this.compile(condition.condition, changes, boundary));
      default:
        return compileLeaf(leafOf(condition, this.context(condition, boundary)), changes);
    }
  }

  /** Where a condition or a measure of the item is compiled. */
  context(source: Condition | Measure, boundary?: BoundaryOf): ConditionContext {
    return { ...this.model, reads: this.reads, source, boundary };
  }
}

function leafOf(
  condition: Exclude<Condition, { kind: "all" | "any" } | { kind: "not" }>,
  context: ConditionContext,
): Leaf {
  switch (condition.kind) {
    case "count":
      return compileCountLeaf(condition, context);
    case "aggregate":
    case "distinct":
    case "daysSince":
      return compileMeasured(condition, context);
    case "latest":
    case "latestExists":
      return compileLatest(condition, context);
    case "sequence":
      return compileSequence(condition, context);
    case "trait":
    case "traitExists":
      return compileTrait(condition, context);
    case "traitDateWithin":
    case "traitDatePassed":
      return compileDate(condition);
    case "inactiveFor":
    case "activeWithin":
      return compileActivity(condition, context);
    case "lifecycle":
      return compileLifecycle(condition, context);
    case "inState":
      return compileInState(condition, context);
    case "segment":
      return compileSegment(condition, context);
    case "journey":
      return compileJourney(condition, context);
    case "journeyStep":
      return compileJourneyStep(condition, context);
    case "health":
      return compileHealth(condition, context);
    case "healthBand":
      return compileHealthBand(condition, context);
  }
}
