import type { EffectRows } from "../../db/api/evaluation.js";
import {
  type CustomerState,
  type Effect,
  type HistorySource,
  type JourneySpan,
  type Model,
  type ReplayInput,
  replayPart,
  type TrackedEvent,
} from "../../engine/index.js";
import { LatestRows, addEffectRows, type Row } from "../rows.js";
import { REPLAY_SHARE, WorkBudget } from "../../evaluation/work-budget.js";

/**
 * The rows that the replay of one customer results in, gathered part by part. It holds the logs' rows since the last `takeLogs`; the number
 * of other rows is bounded by the model, except for the runs of journeys.
 */
class RebuiltRows {
  #logs: Pick<EffectRows, "transitions" | "ruleExecutions"> = { transitions: [], ruleExecutions: [] };
  #health: Row<"healthScores"> | null = null;
  readonly #latest = new LatestRows();

  /** @param generation of the logs' rows */
  constructor(
    private readonly customerId: string,
    private readonly generation: number,
  ) {}

  add(effects: readonly Effect[]): void {
    const { customerId, generation } = this;
    // A replay's emissions are in the past, so they are not written; see `corrections`.
    const rows = { ...this.#logs, healthScores: [] as Row<"healthScores">[], emissions: null };
    addEffectRows(rows, this.#latest, { customerId, generation }, effects);
    this.#health = rows.healthScores.at(-1) ?? this.#health;
  }

  /** The logs' rows that were added since the last call. */
  takeLogs(): Pick<EffectRows, "transitions" | "ruleExecutions"> {
    const logs = this.#logs;
    this.#logs = { transitions: [], ruleExecutions: [] };
    return logs;
  }

  /** All runs of journeys, sorted by journey and run. */
  journeySpans(): JourneySpan[] {
    return [...this.#latest.journeys.values()].sort((a, b) =>
      a.journey === b.journey ? a.run - b.run : a.journey < b.journey ? -1 : 1,
    );
  }

  /** The rows of all tables except the logs, null for a table without rows; of health one row, the current score. */
  tables(): { [Table in keyof LatestRows | "healthScores"]: EffectRows[Table] | null } {
    const { blocked, journeys, memberships, signals } = this.#latest;
    return {
      blocked: nullIfEmpty([...blocked.values()]),
      journeys: nullIfEmpty([...journeys.values()]),
      memberships: nullIfEmpty([...memberships.values()]),
      healthScores: this.#health === null ? null : [this.#health],
      signals: nullIfEmpty([...signals.values()]),
    };
  }
}

export function nullIfEmpty<T>(rows: T[]): T[] | null {
  return rows.length === 0 ? null : rows;
}

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
   * Replays the next events, as far as a budget allows.
   *
   * @param through given with the last events: the final instant
   * @returns how many of the events were taken, and whether nothing is left to do
   * @throws {HistoryNeeded} if earlier events are needed that `history` has not; nothing has changed then
   */
  part(events: readonly TrackedEvent[], through: number | null, history?: HistorySource) {
    const { state, effects, taken, isDone } = new WorkBudget(REPLAY_SHARE).spend((budget) =>
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

  /** The state that the replay has reached. */
  get state(): CustomerState {
    if (this.#state === null) throw new Error("the replay has not begun");
    return this.#state;
  }
}
