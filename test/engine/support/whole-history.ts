import {
  MemoryRebuild,
  replayPart,
  type CustomerState,
  type Effect,
  type HistoryEvent,
  type Model,
  type ReplayInput,
  type TrackedEvent,
} from "../../../src/engine/index.js";

/** A replay of a history that is fully loaded. */
export function replay(
  model: Model,
  { events, through, ...input }: ReplayInput & { events: Iterable<TrackedEvent>; through: number },
): { state: CustomerState; effects: Effect[] } {
  const { state, effects } = replayPart(model, input, { state: null, events, through });
  return { state, effects };
}

/** A customer with its memory rebuilt for another model from such a history. */
export function rebuildMemory(model: Model, state: CustomerState, history: Iterable<HistoryEvent>): CustomerState {
  const rebuild = new MemoryRebuild(model, state);
  for (const event of history) rebuild.add(event);
  return rebuild.end();
}
