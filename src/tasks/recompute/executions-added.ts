import type { EffectRows } from "../../db/calls-evaluation.js";
import type { ExecutionKey } from "../../db/calls-recompute.js";

type Execution = EffectRows["ruleExecutions"][number];

/**
 * The runs of rules that a log would gain: those of a replay that the log has not, at the same instant, for the same trigger and with the
 * same result. Both come in order of their instants, and only what lies past the settled instant is held; of what is gained only the
 * first runs are kept, the others counted.
 */
export class ExecutionsAdded {
  readonly kept: Execution[] = [];
  count = 0;
  /** How many runs of the log the replay has not. */
  removed = 0;
  #present: ExecutionKey[] = [];
  #predicted: Execution[] = [];

  constructor(private readonly keepMax: number) {}

  /** Runs that the log has. */
  present(runs: readonly ExecutionKey[]): void {
    for (const run of runs) this.#present.push(run);
  }

  /** Runs of the replay. */
  predict(runs: readonly Execution[]): void {
    for (const run of runs) this.#predicted.push(run);
  }

  /** Compares what came with instants before one; no more of those may come. */
  settle(before: number): void {
    const had = new Map<string, number>();
    const present = this.#present.findIndex(([, , , at]) => at >= before);
    for (const key of this.#present.splice(0, present < 0 ? this.#present.length : present)) {
      const name = key.join("\n");
      had.set(name, (had.get(name) ?? 0) + 1);
    }
    const predicted = this.#predicted.findIndex(({ at }) => at >= before);
    for (const run of this.#predicted.splice(0, predicted < 0 ? this.#predicted.length : predicted)) {
      const name = [run.rule, run.result, run.triggeredBy, run.at].join("\n");
      const left = had.get(name) ?? 0;
      if (left > 0) {
        had.set(name, left - 1);
        continue;
      }
      this.count++;
      if (this.kept.length < this.keepMax) this.kept.push(run);
    }
    for (const left of had.values()) this.removed += left;
  }
}
