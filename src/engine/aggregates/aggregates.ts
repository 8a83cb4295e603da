import type { Aggregate, EvaluationContext, WorkingAggregate } from "../evaluation-context.js";
import type { AggregateMemory } from "../state/types.js";

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
