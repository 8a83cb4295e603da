import type { DistinctMemory } from "./distinct.js";
import type { ExtremeMemory } from "./extreme.js";
import type { FirstMemory, LatestMemory } from "./latest.js";
import type { SequenceMemory } from "./sequence.js";
import type { SumMemory } from "./sum.js";
import type { HistoryEvent } from "../state/types.js";
import type { EvaluationContext } from "../state/evaluation-context.js";

/** What is remembered of one aggregate: plain JSON, bounded by the model. */
export type AggregateMemory = SumMemory | ExtremeMemory | DistinctMemory | LatestMemory | FirstMemory | SequenceMemory;

/**
 * Something other than a number of occurrences that a model's conditions need to know of the past: a sum, the different
 * values, the latest value. Conditions that ask the same share one.
 */
export interface Aggregate {
  readonly kind: AggregateMemory["kind"];
  readonly index: number;
  /** The events that it reads. */
  readonly events: readonly string[];
  /** How many different values the conditions need to tell apart; 0 of other aggregates. Grows while the model is compiled. */
  capacity: number;
  /** The items of the model that read it, by position. */
  readonly items: number[];
  /** The conditions and measures of the snapshot that read it. */
  readonly sources: object[];
  /** Where it stood when each window and boundary had a memory of its own. */
  readonly formerPositions: number[];
  /** Its working form, from what was remembered or from nothing. What was remembered is not changed. */
  open(memory: AggregateMemory | null): WorkingAggregate;
}

/** An aggregate as the conditions of one window and boundary read it. */
export interface ScopedAggregate {
  readonly aggregate: Aggregate;
  /** How many different values these need to tell apart. */
  capacity: number;
}

/** An aggregate of one customer during a call. Whatever was recorded in the call stays known until `save`. */
export interface WorkingAggregate {
  /**
   * Takes an event of one of its names in, whatever its place in order, and tells whether it concerns the aggregate.
   *
   * @throws {HistoryNeeded} if it takes earlier events to place it
   */
  record(customer: EvaluationContext, event: HistoryEvent): boolean;
  /** What is to be remembered; the very object that it was opened with where nothing changed. */
  save(customer: EvaluationContext): AggregateMemory;
  clone(): WorkingAggregate;
}

/** The working forms of a model's aggregates. `memory` is null where nothing is remembered under the model. */
export function openAggregates(
  { aggregates }: { aggregates: readonly Aggregate[] },
  memory: readonly AggregateMemory[] | null,
): WorkingAggregate[] {
  return aggregates.map((aggregate, index) => aggregate.open(memory?.[index] ?? null));
}

/**
 * What was remembered when each window and boundary had a memory of its own, shared. All of those took in the same
 * occurrences and differed in how many values they kept, so the longest holds what every other one does.
 */
export function shareMemory(
  { aggregates }: { aggregates: readonly Aggregate[] },
  former: readonly AggregateMemory[],
): AggregateMemory[] {
  return aggregates.map(({ formerPositions }) =>
    formerPositions.map((position) => former[position]!).reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a)),
  );
}

function lengthOf(memory: AggregateMemory): number {
  return memory.kind === "distinct" ? memory.value.length : 0;
}

export function saveAggregates(customer: EvaluationContext): AggregateMemory[] {
  return customer.aggregates.map((aggregate) => aggregate.save(customer));
}
