import type { Snapshot } from "../../../src/model/snapshot/types.js";
import type { Effect, Operation } from "../../../src/engine/index.js";

/** Counts how often each relevant case occurred in the runs of a property. */
export class Coverage {
  private readonly counts = new Map<string, number>();

  add(what: string, times = 1): void {
    this.counts.set(what, this.of(what) + times);
  }

  of(what: string): number {
    return this.counts.get(what) ?? 0;
  }

  /** The given cases that never occurred. */
  missing(expected: readonly string[]): string[] {
    return expected.filter((what) => this.of(what) === 0);
  }

  addOperations(operations: readonly Operation[]): void {
    let latest = -Infinity;
    const instants = new Set<number>();
    for (const operation of operations) {
      if (operation.kind === "identify") {
        this.add(Object.values(operation.traits).includes(null) ? "identify that removes" : "identify");
        continue;
      }
      this.add("track");
      if (operation.occurredAt < latest) this.add("late");
      if (instants.has(operation.occurredAt)) this.add("same instant");
      if (operation.occurredAt > operation.acceptedAt + 300_000) this.add("future");
      latest = Math.max(latest, operation.occurredAt);
      instants.add(operation.occurredAt);
    }
  }

  addEffects(effects: readonly Effect[]): void {
    for (const effect of effects) {
      if (effect.kind === "ruleExecuted") this.add(`rule ${effect.result} by ${effect.triggeredBy.split(":")[0]}`);
      else if (effect.kind !== "emission") this.add(`${effect.kind} by ${effect.cause.kind}`);
      if (effect.kind === "journey" && effect.run.run > 1) this.add("journey again");
      if (effect.kind === "health" && effect.overall === null) this.add("health ceases");
    }
  }

  /** Counts the kinds of nodes that a model is made of. */
  addModel(model: Snapshot): void {
    const visit = (node: unknown): void => {
      if (typeof node !== "object" || node === null) return;
      const { kind, since, anyOrder, absent, previous } = node as Record<string, unknown>;
      if (typeof kind === "string") this.add(`kind ${kind}`);
      if (typeof since === "string") this.add(`since ${since}`);
      else if (since !== undefined) this.add("since journey");
      if (anyOrder) this.add("anyOrder");
      if (absent !== undefined) this.add(absent === "skip" ? "absent skips" : "absent scores");
      if (previous) this.add("previous");
      Object.values(node).forEach(visit);
    };
    visit(model);
  }

  toString(): string {
    return [...this.counts]
      .sort()
      .map(([what, times]) => `${what} ${times}`)
      .join(", ");
  }
}
