import type { AggregateMemory, ConditionMemory, CustomerState, StreamMemory } from "./types.js";

/** What a model's memory of conditions is kept under. */
export interface MemoryKeys {
  /** Of the model. */
  hash: string;
  memoryKey: string;
  /** What it was kept under as it was laid out before, where that can still be read. */
  formerMemoryKeys: readonly string[];
}

/**
 * What is remembered of a count that is summed up, from the streams in which its occurrences were remembered before.
 *
 * @param clock how far the customer was evaluated
 */
export type FromStream = (streams: readonly StreamMemory[], clock: number) => AggregateMemory;

/** Whether a customer's memory is the model's: kept under its key, or as it was laid out before. */
export function hasMemoryOf({ memoryKey, formerMemoryKeys }: MemoryKeys, { memory }: CustomerState): boolean {
  return memory.model === memoryKey || (memory.model !== null && formerMemoryKeys.includes(memory.model));
}

/** @throws {Error} if a customer's memory is that of another model */
export function requireMemoryOf(model: MemoryKeys, state: CustomerState): void {
  const { memory } = state;
  if (memory.model === null || hasMemoryOf(model, state)) return;
  throw new Error(
    `the customer's memory is for the model ${memory.model}, not for ${model.memoryKey}; rebuild it from the retained events first`,
  );
}

/**
 * What is remembered of the model's aggregates; null where nothing is. When each window and boundary had a memory of its own, all of
 * those took in the same occurrences and differed in how many values they kept, so the longest holds what every other one does.
 */
export function aggregatesOf(
  ofModel: readonly { index: number; formerPositions: readonly number[]; fromStream: FromStream | null }[],
  { hash, memoryKey }: MemoryKeys,
  { model, streams, aggregates }: ConditionMemory,
  clock: number,
): readonly AggregateMemory[] | null {
  if (model === null) return null;
  if (model === memoryKey) return aggregates;
  return ofModel.map(({ index, formerPositions, fromStream }) => {
    if (fromStream !== null) return fromStream(streams, clock);
    if (model !== hash) return aggregates[index]!;
    const former = formerPositions.map((position) => aggregates[position]!);
    return former.reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a));
  });
}

function lengthOf(memory: AggregateMemory): number {
  return memory.kind === "distinct" ? memory.value.length : 0;
}
