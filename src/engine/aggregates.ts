import type { DistinctMemory } from "./aggregate-distinct.js";
import type { ExtremeMemory } from "./aggregate-extreme.js";
import type { FirstMemory, LatestMemory } from "./aggregate-latest.js";
import type { SequenceMemory } from "./aggregate-sequence.js";
import type { SumMemory } from "./aggregate-sum.js";
import type { HistoryEvent } from "./types.js";
import type { Working } from "./working.js";

/** What is remembered of one aggregate: plain JSON, bounded by the model. */
export type AggregateMemory = SumMemory | ExtremeMemory | DistinctMemory | LatestMemory | FirstMemory | SequenceMemory;

/**
 * Something other than a number of occurrences that a model's conditions need to know of the past: a sum, the different
 * values, the latest value. Conditions that ask the same share one.
 */
export interface Aggregate<W extends WorkingAggregate = WorkingAggregate> {
  readonly index: number;
  /** The events that it reads. */
  readonly events: readonly string[];
  /** How many different values the conditions need to tell apart; 0 of other aggregates. Grows while the model is compiled. */
  capacity: number;
  /** The items of the model that read it, by position. */
  readonly items: number[];
  /** Its working form, from what was remembered or from nothing. What was remembered is not changed. */
  open(memory: AggregateMemory | null): W;
}

/** An aggregate of one customer during a call. Whatever was recorded in the call stays known until `save`. */
export interface WorkingAggregate {
  /**
   * Takes an event of one of its names in, whatever its place in order, and tells whether it concerns the aggregate.
   *
   * @throws {HistoryNeeded} if it takes earlier events to place it
   */
  record(customer: Working, event: HistoryEvent): boolean;
  /** What is to be remembered; the very object that it was opened with where nothing changed. */
  save(customer: Working): AggregateMemory;
  clone(): WorkingAggregate;
}

/** The working forms of a model's aggregates. `memory` is null where nothing is remembered under the model. */
export function openAggregates(
  { aggregates }: { aggregates: readonly Aggregate[] },
  memory: readonly AggregateMemory[] | null,
): WorkingAggregate[] {
  return aggregates.map((aggregate, index) => aggregate.open(memory?.[index] ?? null));
}

export function saveAggregates(customer: Working): AggregateMemory[] {
  return customer.aggregates.map((aggregate) => aggregate.save(customer));
}
