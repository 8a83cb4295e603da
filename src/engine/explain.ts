import { HEALTH_ITEM, journeyItem, LIFECYCLE_ITEM, segmentItem, signalItem } from "./compile-context.js";
import { type Model, OpenCustomer } from "./open-customer.js";
import { isoTimeOrNull } from "./state/document.js";
import { requireMemoryOf } from "./state/layout.js";
import type { CustomerState, HistorySource, Json } from "./state/types.js";

/** A part of a model with the conditions that are consulted in the present state. */
export type Explained = { [key: string]: Json };

/** Why a customer stands where it does. */
export interface CustomerExplanation {
  /** As of when what is measured is told, but for the health, which is as it was scored; ISO 8601, null before the first evaluation. */
  asOf: string | null;
  lifecycle: Explained | null;
  journeys: Explained[];
  segments: Explained[];
  health: Explained | null;
  signals: Explained[];
}

export interface ExplainOptions {
  history?: HistorySource;
  /** As of when to tell what is measured (ms), where nothing was due until then; the state's clock unless given. */
  at?: number | undefined;
  /** Whether to find out when conditions flip by time alone, which may take all events of a window; `flipsAt` is null otherwise. */
  flips?: boolean;
}

/**
 * Explains a customer's state.
 *
 * @throws {HistoryNeeded} if evaluated events are needed that are not at hand: fetch them and call again
 * @throws {Error} if the state's memory is that of another model
 */
export function explain(model: Model, state: CustomerState, options: ExplainOptions = {}): CustomerExplanation {
  const standing = standingAt(state, options.at);
  const explained = explainer(model, standing, options);
  const each = (names: string[]): Explained[] => names.map(explained).filter((one) => one !== null);
  return {
    asOf: isoTimeOrNull(standing.evaluatedThrough),
    lifecycle: explained(LIFECYCLE_ITEM),
    journeys: each(model.journeys.map(journeyItem)),
    segments: each(model.segments.map(segmentItem)),
    health: explainHealth(model, state, options),
    signals: each(model.signals.map(({ id }) => signalItem(id))),
  };
}

/** Explains the health alone, as `explain` does; null where the model has none. */
export function explainHealth(model: Model, state: CustomerState, options: ExplainOptions = {}): Explained | null {
  return explainer(model, state, options)(HEALTH_ITEM);
}

/** The state at a later instant, if nothing of it changes by then: its clock alone goes on, and with it how long ago everything is. */
function standingAt(state: CustomerState, at: number | undefined): CustomerState {
  const { evaluatedThrough, nextDueAt } = state;
  if (at === undefined || evaluatedThrough === null || at <= evaluatedThrough) return state;
  return nextDueAt !== null && nextDueAt <= at ? state : { ...state, evaluatedThrough: at };
}

function explainer(model: Model, state: CustomerState, { history, flips = true }: ExplainOptions) {
  requireMemoryOf(model, state);
  return (name: string): Explained | null => {
    const item = model.items.find((one) => one.name === name);
    if (item === undefined) return null;
    // Each on a copy of its own: reading on for when a sum changes may find that history has lost some of it.
    const customer = new OpenCustomer(model, state, history);
    customer.looksAhead = flips;
    return item.explain(customer);
  };
}
