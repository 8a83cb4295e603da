import { HEALTH_ITEM, journeyItem, LIFECYCLE_ITEM, segmentItem, signalItem } from "./compile-context.js";
import { type Model, OpenCustomer } from "./open-customer.js";
import { isoTimeOrNull } from "./state/document.js";
import { requireMemoryOf } from "./state/layout.js";
import type { CustomerState, HistorySource, Json } from "./state/types.js";

/** A part of a model with the conditions that are consulted in the current state. */
export type Explained = { [key: string]: Json };

/** The reasons for a customer's state. */
export interface CustomerExplanation {
  /** The instant that measures refer to, ISO 8601; null before the first evaluation. Health is shown as last scored. */
  asOf: string | null;
  lifecycle: Explained | null;
  journeys: Explained[];
  segments: Explained[];
  health: Explained | null;
  signals: Explained[];
}

export interface ExplainOptions {
  history?: HistorySource;
  /** The instant that measures refer to (ms), unless something is due by then; the state's clock unless given. */
  at?: number | undefined;
  /** Whether to find out when conditions flip by time alone, which may read all events of a window; `flipsAt` is null otherwise. */
  flips?: boolean;
}

/**
 * Explains a customer's state.
 *
 * @throws {HistoryNeeded} if evaluated events are needed that are not loaded: fetch them and call again
 * @throws {Error} if the state's memory belongs to another model
 */
export function explain(model: Model, state: CustomerState, options: ExplainOptions = {}): CustomerExplanation {
  const atInstant = advancedTo(state, options.at);
  const explained = explainer(model, atInstant, options);
  const each = (names: string[]): Explained[] => names.map(explained).filter((one) => one !== null);
  return {
    asOf: isoTimeOrNull(atInstant.evaluatedThrough),
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

/** The state with its clock advanced to a later instant, provided that nothing is due by then. */
function advancedTo(state: CustomerState, at: number | undefined): CustomerState {
  const { evaluatedThrough, nextDueAt } = state;
  if (at === undefined || evaluatedThrough === null || at <= evaluatedThrough) return state;
  return nextDueAt !== null && nextDueAt <= at ? state : { ...state, evaluatedThrough: at };
}

function explainer(model: Model, state: CustomerState, { history, flips = true }: ExplainOptions) {
  requireMemoryOf(model, state);
  return (name: string): Explained | null => {
    const item = model.items.find((one) => one.name === name);
    if (item === undefined) return null;
    // Each item gets its own copy: reading ahead to find when a sum changes may correct it, if history has lost some of its events.
    const customer = new OpenCustomer(model, state, history);
    customer.explainsFlips = flips;
    return item.explain(customer);
  };
}
