import { HEALTH_ITEM, journeyItem, LIFECYCLE_ITEM, segmentItem, signalItem } from "./conditions.js";
import { requireMemoryOf } from "./customer.js";
import type { Model } from "./model.js";
import type { CustomerState, HistorySource, Json } from "./types.js";
import { Working } from "./working.js";

type Explained = { [key: string]: Json };

/** Why a customer stands where it does: every part of the model with the conditions that are consulted in the present state. */
export interface CustomerExplanation {
  lifecycle: Explained | null;
  journeys: Explained[];
  segments: Explained[];
  health: Explained | null;
  signals: Explained[];
}

/**
 * Explains a customer's state at its clock.
 *
 * @throws {HistoryNeeded} if evaluated events are needed that are not at hand: fetch them and call again
 * @throws {Error} if the state's memory is that of another model
 */
export function explain(
  model: Model,
  state: CustomerState,
  { history }: { history?: HistorySource } = {},
): CustomerExplanation {
  requireMemoryOf(model, state);
  const explained = (name: string): Explained[] => {
    const item = model.items.find((one) => one.name === name);
    // Each on a copy of its own: reading on for when a sum changes may find that history has lost some of it.
    return item === undefined ? [] : [item.explain(new Working(model, state, history))];
  };
  return {
    lifecycle: explained(LIFECYCLE_ITEM)[0] ?? null,
    journeys: model.journeys.flatMap((id) => explained(journeyItem(id))),
    segments: model.segments.flatMap((id) => explained(segmentItem(id))),
    health: explained(HEALTH_ITEM)[0] ?? null,
    signals: model.signals.flatMap(({ id }) => explained(signalItem(id))),
  };
}
