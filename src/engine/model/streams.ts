import type { StreamMemory } from "../state/types.js";

export function newStreamMemory(): StreamMemory {
  return { count: 0, occurredAt: [], seq: [] };
}

export function copyStreamMemory(memory: StreamMemory): StreamMemory {
  return { count: memory.count, occurredAt: memory.occurredAt.slice(), seq: memory.seq.slice() };
}

/**
 * Adds an occurrence in its place in order. Between two trims up to twice the capacity is held, so that dropping the
 * oldest costs nothing worth mentioning per occurrence; readers count from the end.
 */
export function addOccurrence(memory: StreamMemory, capacity: number, occurredAt: number, seq: number): void {
  memory.count++;
  if (capacity === 0) return;
  const instants = memory.occurredAt;
  const seqs = memory.seq;
  let at = instants.length;
  while (at > 0 && isLater(instants[at - 1]!, seqs[at - 1]!, occurredAt, seq)) at--;
  if (at === instants.length) {
    instants.push(occurredAt);
    seqs.push(seq);
  } else if (at > 0 || instants.length < capacity) {
    instants.splice(at, 0, occurredAt);
    seqs.splice(at, 0, seq);
  }
  if (instants.length > 2 * capacity + 16) trimOccurrences(memory, capacity);
}

/** Drops all but the latest occurrences that the capacity allows. */
export function trimOccurrences(memory: StreamMemory, capacity: number): void {
  const surplus = memory.occurredAt.length - capacity;
  if (surplus <= 0) return;
  memory.occurredAt.splice(0, surplus);
  memory.seq.splice(0, surplus);
}

function isLater(occurredAt: number, seq: number, thanOccurredAt: number, thanSeq: number): boolean {
  return occurredAt > thanOccurredAt || (occurredAt === thanOccurredAt && seq > thanSeq);
}
