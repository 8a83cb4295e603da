import { type Effect, emissionDocument, emissionIdOf, type Model, type Operation } from "../engine/index.js";
import type { Emission } from "../http/admin/answers.js";
import { isLateTrack } from "../engine/timers.js";
import { LocalCustomer, type Evaluation, type Instant } from "./customer.js";

/** The new operations of one request, in order. */
export interface AcceptedBatch {
  acceptedAt: number;
  operations: { customerId: string; operation: Operation }[];
}

/** The effects of an evaluation on one customer. */
export interface CustomerChange {
  customerId: string;
  effects: Effect[];
  entries: Emission[];
}

export interface PopulationOptions {
  /** Shown in timelines. */
  configVersion: string | null;
  /** How long the timers of customers with late events wait, in milliseconds. */
  settleMs: number;
}

/** All customers under one model. The same batches and instants always lead to the same population. */
export class Population {
  readonly #customers = new Map<string, LocalCustomer>();
  readonly #timelines = new Map<string, Emission[]>();
  readonly #effects = new Map<string, Effect[]>();
  /** The number of emissions of all customers. */
  #emissions = 0;
  #lastLateAt = -Infinity;

  constructor(
    private readonly model: Model,
    private readonly options: PopulationOptions,
  ) {}

  get customerIds(): string[] {
    return [...this.#customers.keys()].sort();
  }

  customer(customerId: string): LocalCustomer | undefined {
    return this.#customers.get(customerId);
  }

  /** The effects of all evaluations of a customer, in their order. */
  effects(customerId: string): readonly Effect[] {
    return this.#effects.get(customerId) ?? [];
  }

  /** The emissions of a customer, oldest first. */
  timeline(customerId: string): readonly Emission[] {
    return this.#timelines.get(customerId) ?? [];
  }

  /**
   * Evaluates a batch at its acceptance, all or nothing: if the engine throws, nothing has changed. What was due before is evaluated first,
   * so the result does not depend on whether a timer has fired already. A late event holds the timers of other customers, so theirs are
   * evaluated before it, too.
   */
  apply({ acceptedAt, operations }: AcceptedBatch): CustomerChange[] {
    const late = operations.some(({ operation }) => operation.kind === "track" && isLateTrack(operation));
    const due = this.advance(acceptedAt, late ? undefined : new Set(operations.map(({ customerId }) => customerId)));
    const instant = this.#instant(acceptedAt, late ? acceptedAt : this.#lastLateAt);
    const evaluations = [...byCustomer(operations)].map(([customerId, ownOperations]) => {
      const customer = this.#customers.get(customerId) ?? new LocalCustomer(customerId, acceptedAt);
      return { customerId, customer, ...customer.evaluate(this.model, ownOperations, instant) };
    });
    if (late) this.#lastLateAt = acceptedAt;
    for (const { customerId, customer } of evaluations) this.#customers.set(customerId, customer);
    return merged([...due, ...this.#commit(evaluations)]);
  }

  /** Evaluates everything that is due up to `now`, each at its instant. @param only restricts this to some customers */
  advance(now: number, only?: ReadonlySet<string>): CustomerChange[] {
    const instant = this.#instant(now, this.#lastLateAt);
    const due = [...(only ?? this.#customers.keys())].filter((id) => this.#customers.get(id)?.isDue(instant));
    return this.#commit(
      due.map((customerId) => ({ customerId, ...this.#customers.get(customerId)!.evaluate(this.model, [], instant) })),
    );
  }

  /** The earliest instant at which `advance` will find something due; null if time alone changes nothing. */
  get nextDueAt(): number | null {
    const settledAt = this.#lastLateAt + this.options.settleMs;
    let earliest = Infinity;
    for (const customer of this.#customers.values()) earliest = Math.min(earliest, customer.dueAt(settledAt));
    return earliest === Infinity ? null : earliest;
  }

  #instant(now: number, lastLateAt: number): Instant {
    return { now, settled: lastLateAt <= now - this.options.settleMs };
  }

  #commit(evaluations: readonly ({ customerId: string } & Evaluation)[]): CustomerChange[] {
    return evaluations.map(({ customerId, effects, commit }) => {
      commit();
      const entries = effects
        .filter((effect) => effect.kind === "emission")
        .map((effect) => {
          const document = emissionDocument(effect);
          return {
            id: emissionIdOf(++this.#emissions),
            ...document,
            configVersion: this.options.configVersion,
            at: document.timestamp,
            type: document.eventType,
          };
        });
      append(this.#timelines, customerId, entries);
      append(this.#effects, customerId, effects);
      return { customerId, effects, entries };
    });
  }
}

function append<T>(lists: Map<string, T[]>, key: string, items: readonly T[]): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [...items]);
  else for (const item of items) list.push(item);
}

/** Groups operations by customer, in their order. */
export function byCustomer(operations: AcceptedBatch["operations"]): Map<string, Operation[]> {
  const groups = new Map<string, Operation[]>();
  for (const { customerId, operation } of operations) append(groups, customerId, [operation]);
  return groups;
}

/** Merges changes of the same customer, in the order in which the customers first appear. */
function merged(changes: readonly CustomerChange[]): CustomerChange[] {
  const byId = new Map<string, CustomerChange>();
  for (const change of changes) {
    const known = byId.get(change.customerId);
    if (known === undefined) byId.set(change.customerId, { ...change });
    else {
      known.effects = [...known.effects, ...change.effects];
      known.entries = [...known.entries, ...change.entries];
    }
  }
  return [...byId.values()];
}
