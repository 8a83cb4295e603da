import { shareMemory } from "../aggregates/aggregates.js";
import type { Model } from "../evaluation-context.js";
import type { AggregateMemory, ConditionMemory, CustomerState } from "./types.js";

/** Whether a customer's memory is the model's: kept under its key, or as it was laid out before conditions shared any. */
export function hasMemoryOf({ hash, memoryKey }: Model, { memory }: CustomerState): boolean {
  return memory.model === memoryKey || memory.model === hash;
}

/** @throws {Error} if a customer's memory is that of another model */
export function requireMemoryOf(model: Model, state: CustomerState): void {
  const { customerId, memory } = state;
  if (memory.model === null || hasMemoryOf(model, state)) return;
  throw new Error(
    `the memory of customer ${JSON.stringify(customerId)} is for the model ${memory.model}, not for ` +
      `${model.memoryKey}; rebuild it from the retained events first`,
  );
}

/** What is remembered of the model's aggregates; null where nothing is. */
export function aggregatesOf(
  { memoryKey, registry }: Model,
  { model, aggregates }: ConditionMemory,
): readonly AggregateMemory[] | null {
  if (model === null) return null;
  return model === memoryKey ? aggregates : shareMemory(registry, aggregates);
}
