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
import { LatestRows, sortEffects } from "../rows.js";
import { WorkBudget } from "../../evaluation/work-budget.js";

type Row<Table extends keyof EffectRows> = EffectRows[Table][number];

/**
 * What the replay of one customer leaves in the tables, gathered part by part. Of the logs there is what was added since `takeLogs`;
 * the rest is bounded by the model, but for the runs of journeys.
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
    // What a replay emits is history; see `corrections`.
    const rows = { ...this.#logs, healthScores: [] as Row<"healthScores">[], emissions: null };
    sortEffects(rows, this.#latest, { customerId, generation }, effects);
    this.#health = rows.healthScores.at(-1) ?? this.#health;
  }

  /** The logs' rows that were added since the last call. */
  takeLogs(): Pick<EffectRows, "transitions" | "ruleExecutions"> {
    const logs = this.#logs;
    this.#logs = { transitions: [], ruleExecutions: [] };
    return logs;
  }

  /** All runs of journeys; those of one in order. */
  journeySpans(): JourneySpan[] {
    return [...this.#latest.journeys.values()].sort((a, b) =>
      a.journey === b.journey ? a.run - b.run : a.journey < b.journey ? -1 : 1,
    );
  }

  /** The rows of all tables but the logs; of health one record, of the present score. Null where a table has none. */
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

/** Rows, or null where there are none. */
export function nullIfEmpty<T>(rows: T[]): T[] | null {
  return rows.length === 0 ? null : rows;
}

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
  part(events: readonly TrackedEvent[], through: number | null, history?: HistorySource) {
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
