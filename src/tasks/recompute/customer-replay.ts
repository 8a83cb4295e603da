import type { EventLists } from "../../db/calls-recompute.js";
import {
  eventId,
  replayPart,
  type CustomerState,
  type HistorySource,
  type Model,
  type Replayed,
  type ReplayInput,
  type TrackedEvent,
} from "../../engine/index.js";
import { WorkBudget } from "../work-budget.js";
import { RebuiltRows } from "./rebuilt-rows.js";

/** Replays go on beside evaluation. */
const SHARE = 0.25;

/** The replay of one customer under one model, part by part. */
export class CustomerReplay {
  readonly rows: RebuiltRows;
  #state: CustomerState | null = null;

  constructor(
    private readonly model: Model,
    private readonly input: ReplayInput,
    generation: number,
  ) {
    this.rows = new RebuiltRows(input.customerId, generation);
  }

  /**
   * Goes on with the next events, as far as a budget goes.
   *
   * @param through with the last of them: the final instant
   * @returns how many of the events were taken, and whether that is all there was to do
   * @throws {HistoryNeeded} where earlier events are needed that are not at hand; nothing has changed then
   */
  part(
    events: readonly TrackedEvent[],
    through: number | null,
    history?: HistorySource,
  ): Pick<Replayed, "taken" | "isDone"> {
    const { state, effects, taken, isDone } = new WorkBudget(SHARE).spend((budget) =>
      replayPart(this.model, this.input, {
        state: this.#state,
        events,
        through,
        budget,
        ...(history === undefined ? {} : { history }),
      }),
    );
    this.#state = state;
    this.rows.add(effects);
    return { taken, isDone };
  }

  /** Where the replay stands. */
  get state(): CustomerState {
    if (this.#state === null) throw new Error("the replay has not begun");
    return this.#state;
  }
}

/** Events in the engine's order: of milliseconds and acceptance, where the database orders by microseconds. */
export function eventsOf({ seqs, at, names, properties }: EventLists): TrackedEvent[] {
  if (seqs === null || at === null || names === null || properties === null) return [];
  const events = seqs.map((seq, i): TrackedEvent => ({
    seq,
    eventId: eventId(seq),
    event: names[i]!,
    occurredAt: at[i]!,
    properties: properties[i] ?? {},
  }));
  const isInOrder = seqs.every((seq, i) => i === 0 || at[i] !== at[i - 1] || seq > seqs[i - 1]!);
  if (!isInOrder) events.sort((a, b) => a.occurredAt - b.occurredAt || a.seq - b.seq);
  return events;
}
