import fc from "fast-check";

import {
  evaluate,
  newCustomer,
  rebuildMemory,
  type CustomerState,
  type Effect,
  type Model,
  type Operation,
  type TrackOperation,
} from "../../../src/engine/index.js";

/** Random runs for each property; more on demand. */
const runs = Number(process.env["SVC_PROPERTY_RUNS"] ?? 500);

/** Milliseconds that a property may take: the default runs need about two seconds. */
export const timeout = 20_000 + 20 * runs;

/** Checks a property; a failure names the seed and the path that repeat it. */
export function check<T extends [unknown, ...unknown[]]>(property: fc.IProperty<T>): void {
  fc.assert(property, { numRuns: runs });
}

/** How often something that a property is about occurred in its runs. */
export class Coverage {
  private readonly counts = new Map<string, number>();

  add(what: string, times = 1): void {
    this.counts.set(what, this.of(what) + times);
  }

  of(what: string): number {
    return this.counts.get(what) ?? 0;
  }

  addOperations(operations: readonly Operation[]): void {
    let latest = -Infinity;
    const instants = new Set<number>();
    for (const operation of operations) {
      if (operation.kind === "identify") {
        this.add("identify");
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
    for (const effect of effects) if (effect.kind !== "emission") this.add(`${effect.kind} by ${effect.cause.kind}`);
  }

  toString(): string {
    return [...this.counts]
      .sort()
      .map(([what, times]) => `${what} ${times}`)
      .join(", ");
  }
}

/** A customer under the engine, whose caller keeps the deferred operations and stores the state as text between calls. */
export class Run {
  state: CustomerState = newCustomer("c1", 0);
  effects: Effect[] = [];
  private readonly taken: TrackOperation[] = [];
  deferred: TrackOperation[] = [];

  constructor(private model: Model) {}

  take(operations: readonly Operation[]): void {
    this.taken.push(...operations.filter((operation) => operation.kind === "track"));
    this.call(operations, { now: 0, timers: "hold" });
  }

  tick(now: number): void {
    this.call([], { now, timers: "fire" });
  }

  changeVersion(model: Model): void {
    this.model = model;
    const ahead = new Set(this.deferred.map(({ seq }) => seq));
    this.state = rebuildMemory(
      model,
      this.state,
      this.taken.filter(({ seq }) => !ahead.has(seq)),
    );
  }

  private call(operations: readonly Operation[], options: Parameters<typeof evaluate>[3]): void {
    const state = freeze(JSON.parse(JSON.stringify(this.state)) as CustomerState);
    const result = evaluate(this.model, state, [...this.deferred, ...operations], options);
    this.state = result.state;
    this.deferred = result.deferred;
    this.effects.push(...result.effects);
  }
}

/** Makes a change of what was handed in an error. */
function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null) Object.values(Object.freeze(value)).forEach(freeze);
  return value;
}
