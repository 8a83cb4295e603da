import type { WorkingAggregate } from "./aggregates.js";
import { counts } from "./boundary.js";
import { isLater } from "./order.js";
import { select, type Selection } from "./selection.js";
import type { HistoryEvent } from "./types.js";
import type { Working } from "./working.js";

/** A value as it is told from others: texts, numbers and booleans never mix. */
export type DistinctValue = string | number | boolean;

/** The different values whose latest occurrence is latest, in that order. */
export interface DistinctMemory {
  kind: "distinct";
  value: DistinctValue[];
  occurredAt: number[];
  seq: number[];
}

/**
 * The different values of a property, by their latest occurrence. As a value counts as long as its latest occurrence does, the
 * n values with the latest ones tell whether there are at least n, in any window and since any boundary.
 */
export class DistinctAggregate implements WorkingAggregate {
  #memory: DistinctMemory;
  #owned = false;

  constructor(
    private readonly selection: Selection<DistinctValue>,
    private readonly aggregate: { readonly capacity: number },
    origin: DistinctMemory | null,
  ) {
    this.#memory = origin ?? { kind: "distinct", value: [], occurredAt: [], seq: [] };
  }

  /** A clone is for looking at another instant, and that changes nothing here. */
  clone(): this {
    return this;
  }

  record(_customer: Working, event: HistoryEvent): boolean {
    const value = select(this.selection, event);
    if (value === undefined) return false;
    const { occurredAt, seq } = event;
    const { length } = this.#memory.value;
    const present = this.#memory.value.lastIndexOf(value);
    if (present >= 0) {
      if (!isLater(occurredAt, seq, this.#order(present))) return false;
      this.#own();
      if (present === length - 1) {
        this.#memory.occurredAt[present] = occurredAt;
        this.#memory.seq[present] = seq;
        return true;
      }
      this.#splice(present, 1);
    }
    let at = this.#memory.value.length;
    while (at > 0 && !isLater(occurredAt, seq, this.#order(at - 1))) at--;
    if (at === 0 && this.#memory.value.length >= this.aggregate.capacity) return false;
    this.#own();
    this.#splice(at, 0, { value, occurredAt, seq });
    if (this.#memory.value.length > this.aggregate.capacity) this.#splice(0, 1);
    return true;
  }

  /** How many values count at the customer's clock, as far as they are told apart. */
  read(customer: Working): number {
    return this.#memory.value.length - this.#firstInScope(customer);
  }

  /** The earliest instant after the clock at which a reading of their number changes by time alone, or Infinity. */
  nextChange(customer: Working, reading: (count: number) => unknown): number {
    const { within } = this.selection;
    if (within === Infinity) return Infinity;
    const { occurredAt } = this.#memory;
    const { length } = occurredAt;
    const first = this.#firstInScope(customer);
    const present = reading(length - first);
    for (let i = first; i < length; i++) {
      const leavesAt = occurredAt[i]! + within;
      if (i + 1 < length && occurredAt[i + 1]! === occurredAt[i]!) continue;
      if (reading(length - i - 1) !== present) return leavesAt;
    }
    return Infinity;
  }

  save(): DistinctMemory {
    return this.#memory;
  }

  #firstInScope(customer: Working): number {
    const { within, boundary } = this.selection;
    const { occurredAt, seq } = this.#memory;
    const start = customer.clock - within;
    const since = boundary?.(customer);
    let at = occurredAt.length;
    while (at > 0 && occurredAt[at - 1]! > start) {
      if (since !== undefined && !counts(since, occurredAt[at - 1]!, seq[at - 1]!)) break;
      at--;
    }
    return at;
  }

  #order(index: number): { occurredAt: number; seq: number } {
    return { occurredAt: this.#memory.occurredAt[index]!, seq: this.#memory.seq[index]! };
  }

  #own(): void {
    if (this.#owned) return;
    const { value, occurredAt, seq } = this.#memory;
    this.#memory = { kind: "distinct", value: value.slice(), occurredAt: occurredAt.slice(), seq: seq.slice() };
    this.#owned = true;
  }

  #splice(at: number, remove: number, add?: { value: DistinctValue; occurredAt: number; seq: number }): void {
    const { value, occurredAt, seq } = this.#memory;
    value.splice(at, remove, ...(add === undefined ? [] : [add.value]));
    occurredAt.splice(at, remove, ...(add === undefined ? [] : [add.occurredAt]));
    seq.splice(at, remove, ...(add === undefined ? [] : [add.seq]));
  }
}
