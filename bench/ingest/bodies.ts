import { nextEvents, type KeyedEvent } from "../lib/events.js";

export const BATCH = 1_000;

export function nextBatches(batches: number, customers?: number): KeyedEvent[][] {
  return Array.from({ length: batches }, () => nextEvents(BATCH, customers));
}

/** Bodies of batch requests. */
export function nextBodies(batches: number, customers?: number): string[] {
  return nextBatches(batches, customers).map((events) => JSON.stringify({ events }));
}
