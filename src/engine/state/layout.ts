import type { AggregateMemory, ConditionMemory, CustomerState, StreamMemory } from "./types.js";

/** The keys that say which model, and which layout, a condition memory belongs to. */
export interface MemoryKeys {
  /** The hash of the model. */
  hash: string;
  /** The key of the current layout. */
  memoryKey: string;
  /** The keys of former layouts that can still be read. */
  formerMemoryKeys: readonly string[];
}

/**
 * Derives the memory of a summed-up count from the streams that stored its occurrences in a former layout.
 *
 * @param clock the instant up to which the customer was evaluated
 */
export type FromStream = (streams: readonly StreamMemory[], clock: number) => AggregateMemory;

/** Whether a customer's memory belongs to the model, in its current layout or a former one. */
export function hasMemoryOf({ memoryKey, formerMemoryKeys }: MemoryKeys, { memory }: CustomerState): boolean {
  return memory.model === memoryKey || (memory.model !== null && formerMemoryKeys.includes(memory.model));
}

/** @throws {Error} if a customer's memory belongs to another model */
export function requireMemoryOf(model: MemoryKeys, state: CustomerState): void {
  const { memory } = state;
  if (memory.model === null || hasMemoryOf(model, state)) return;
  throw new Error(
    `the customer's memory is for the model ${memory.model}, not for ${model.memoryKey}; rebuild it from the retained events first`,
  );
}

/**
 * The memories of the model's aggregates; null if nothing is remembered. In the layout in which each window and boundary had its own
 * memory, all of these recorded the same occurrences and differed only in how many values they kept, so the longest contains the others.
 */
export function aggregatesOf(
  modelAggregates: readonly { index: number; formerPositions: readonly number[]; fromStream: FromStream | null }[],
  { hash, memoryKey }: MemoryKeys,
  { model, streams, aggregates }: ConditionMemory,
  clock: number,
): readonly AggregateMemory[] | null {
  if (model === null) return null;
  if (model === memoryKey) return aggregates;
  return modelAggregates.map(({ index, formerPositions, fromStream }) => {
    if (fromStream !== null) return fromStream(streams, clock);
    if (model !== hash) return aggregates[index]!;
    const former = formerPositions.map((position) => aggregates[position]!);
    return former.reduce((a, b) => (lengthOf(b) > lengthOf(a) ? b : a));
  });
}

function lengthOf(memory: AggregateMemory): number {
  return memory.kind === "distinct" ? memory.value.length : 0;
}
