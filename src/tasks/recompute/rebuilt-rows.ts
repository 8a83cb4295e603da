import type { EffectRows } from "../../db/calls-evaluation.js";
import type { Effect, JourneySpan } from "../../engine/index.js";
import { addEffects, noEffectRows } from "../effect-rows.js";

type Row<Table extends keyof EffectRows> = EffectRows[Table][number];

/**
 * What the replay of one customer leaves in the tables, gathered part by part. Of the logs there is what was added since `takeLogs`;
 * the rest is bounded by the model, but for the runs of journeys.
 */
export class RebuiltRows {
  #logs: Pick<EffectRows, "transitions" | "ruleExecutions"> = { transitions: [], ruleExecutions: [] };
  #health: Row<"healthScores"> | null = null;
  readonly #blocked = new Map<string, Row<"blocked">>();
  readonly #journeys = new Map<string, Row<"journeys">>();
  readonly #memberships = new Map<string, Row<"memberships">>();
  readonly #signals = new Map<string, Row<"signals">>();

  /** @param generation of the logs' rows */
  constructor(
    private readonly customerId: string,
    private readonly generation: number,
  ) {}

  add(effects: readonly Effect[]): void {
    const rows = noEffectRows();
    const { customerId, generation } = this;
    // What a replay emits is history; see `corrections`.
    addEffects(
      rows,
      { customerId, generation },
      effects.filter(({ kind }) => kind !== "emission"),
    );
    for (const row of rows.transitions) this.#logs.transitions.push(row);
    for (const row of rows.ruleExecutions) this.#logs.ruleExecutions.push(row);
    this.#health = rows.healthScores.at(-1) ?? this.#health;
    for (const row of rows.blocked) this.#blocked.set(`${row.from}→${row.to}`, row);
    for (const row of rows.journeys) this.#journeys.set(`${row.journey} ${row.run}`, row);
    for (const row of rows.memberships) this.#memberships.set(row.segment, row);
    for (const row of rows.signals) this.#signals.set(row.signal, row);
  }

  /** The logs' rows that were added since the last call. */
  takeLogs(): Pick<EffectRows, "transitions" | "ruleExecutions"> {
    const logs = this.#logs;
    this.#logs = { transitions: [], ruleExecutions: [] };
    return logs;
  }

  /** All runs of journeys; those of one in order. */
  journeySpans(): JourneySpan[] {
    return [...this.#journeys.values()].sort((a, b) =>
      a.journey === b.journey ? a.run - b.run : a.journey < b.journey ? -1 : 1,
    );
  }

  /** The rows of all tables but the logs; of health one record, of the present score. Null where a table has none. */
  tables(): {
    [Table in keyof Omit<EffectRows, "emissions" | "transitions" | "ruleExecutions">]: EffectRows[Table] | null;
  } {
    return {
      blocked: orNull([...this.#blocked.values()]),
      journeys: orNull([...this.#journeys.values()]),
      memberships: orNull([...this.#memberships.values()]),
      healthScores: this.#health === null ? null : [this.#health],
      signals: orNull([...this.#signals.values()]),
    };
  }
}

/** Rows, or null where there are none. */
export function orNull<T>(rows: T[]): T[] | null {
  return rows.length === 0 ? null : rows;
}
