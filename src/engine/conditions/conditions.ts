import type { Condition, Measure } from "../../model/snapshot/types.js";
import type { ConditionContext, ModelContext } from "../compile-context.js";
import type { BoundaryOf, Reads } from "../open-customer.js";
import {
  compileHealth,
  compileHealthBand,
  compileJourney,
  compileJourneyStep,
  compileLifecycle,
  compileSegment,
  compileTrait,
} from "./customer-state.js";
import { compileLatest, compileMeasured, compileSequence } from "./events.js";
import { type CompiledCondition, compileGroup, compileLeaf, compileNot, type Leaf } from "./leaf.js";
import { compileActivity, compileDate, compileInState } from "./time.js";

/** The conditions of one item of a model, compiled together: they share what they read and when it changes. */
export class ConditionCompiler {
  readonly reads: Reads = { items: new Set(), streams: new Set(), aggregates: new Set(), activity: false };

  constructor(readonly model: ModelContext) {}

  /**
   * Compiles a condition.
   *
   * @param boundary see `ConditionContext`
   * @param least see `ConditionContext`
   */
  compile(condition: Condition, boundary?: BoundaryOf, least?: BoundaryOf): CompiledCondition {
    const compilePart = (part: Condition): CompiledCondition => this.compile(part, boundary, least);
    switch (condition.kind) {
      case "all":
      case "any":
        return compileGroup(condition.kind, condition.conditions.map(compilePart));
      case "not":
        return compileNot(compilePart(condition.condition));
      default: {
        const compile = LEAVES[condition.kind] as CompileLeaf<LeafKind>;
        return compileLeaf(condition, compile(condition, this.context(condition, boundary, least)));
      }
    }
  }

  /** The context for compiling a condition or a measure of the item. */
  context(source: Condition | Measure, boundary?: BoundaryOf, least?: BoundaryOf): ConditionContext {
    return { ...this.model, reads: this.reads, source, boundary, least };
  }
}

type LeafKind = Exclude<Condition["kind"], "all" | "any" | "not">;
type CompileLeaf<K extends LeafKind> = (condition: Extract<Condition, { kind: K }>, context: ConditionContext) => Leaf;

const LEAVES: { readonly [K in LeafKind]: CompileLeaf<K> } = {
  count: compileMeasured,
  aggregate: compileMeasured,
  distinct: compileMeasured,
  daysSince: compileMeasured,
  ratio: compileMeasured,
  difference: compileMeasured,
  latest: compileLatest,
  latestExists: compileLatest,
  sequence: compileSequence,
  trait: compileTrait,
  traitExists: compileTrait,
  traitDateWithin: compileDate,
  traitDatePassed: compileDate,
  inactiveFor: compileActivity,
  activeWithin: compileActivity,
  lifecycle: compileLifecycle,
  inState: compileInState,
  segment: compileSegment,
  journey: compileJourney,
  journeyStep: compileJourneyStep,
  health: compileHealth,
  healthBand: compileHealthBand,
};
