import type { CompiledScope } from "../compile-context.js";
import type { EvaluationContext, WorkingAggregate } from "../evaluation-context.js";
import { type OccurrenceSelection, select } from "../selection.js";
import { isLater } from "../state/history.js";
import type { DistinctMemory, DistinctValue, HistoryEvent } from "../state/types.js";
import { firstInScope } from "./scope.js";

/**
 * Of occurrences that leave one after the other, earliest first: the instant of those with which a reading of how many are left
 * becomes another one, or Infinity. What occurred together leaves together.
 *
 * Between two neighbouring limits the reading is constant or strictly monotone, so it can change with the next occurrence or at
 * a limit, and only there it is looked at.
 *
 * @param occurredAt the instants of all occurrences, ascending
 * @param first the position of the first that is left now
 */
export function nextFall(
  occurredAt: readonly number[],
  first: number,
  reading: (count: number) => unknown,
  limits: readonly number[],
): number {
  const count = occurredAt.length - first;
  const present = reading(count);
  for (let rest = count - 1; rest >= 0; rest = restBelow(limits, rest)) {
    const instant = occurredAt[occurredAt.length - 1 - rest]!;
    const after = firstAfter(occurredAt, instant, occurredAt.length - rest);
    if (reading(occurredAt.length - after) !== present) return instant;
  }
  return Infinity;
}

/** The next lower number at which a reading may become another one, falling; -1 where there is none. Asked at each event, so nothing is allocated. */
function restBelow(limits: readonly number[], rest: number): number {
  let below = -1;
  for (const limit of limits) {
    const at = Math.floor(limit);
    const under = Math.ceil(limit) - 1;
    if (at < rest && at > below) below = at;
    if (under < rest && under > below) below = under;
  }
  return below;
}

/** The position of the first instant later than a given one, from a position on. */
function firstAfter(instants: readonly number[], instant: number, from: number): number {
  let low = from;
  let high = instants.length;
  // Most occur alone.
  if (low === high || instants[low]! > instant) return low;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (instants[middle]! > instant) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** How the conditions of one scope read the values: as far as these tell them apart. */
export interface DistinctReader extends CompiledScope {
  readonly capacity: number;
}

/**
 * The different values of a property, by their latest occurrence. As a value counts as long as its latest occurrence does, the
 * n values with the latest ones tell whether there are at least n, in any window and since any boundary. So the conditions of
 * all scopes share one memory.
 */
export class DistinctAggregate implements WorkingAggregate {
  #memory: DistinctMemory;
  #owned = false;

  constructor(
    private readonly selection: OccurrenceSelection<DistinctValue>,
    private readonly aggregate: { readonly capacity: number },
    origin: DistinctMemory | null,
  ) {
    this.#memory = origin ?? { kind: "distinct", value: [], occurredAt: [], seq: [] };
  }

  /** A clone is for looking at another instant, and that changes nothing here. */
  clone(): this {
    return this;
  }

  record(_customer: EvaluationContext, event: HistoryEvent): boolean {
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

  /** How many values count at the customer's clock, as far as the reader tells them apart. */
  read(customer: EvaluationContext, reader: DistinctReader): number {
    return this.#memory.value.length - this.#firstOf(customer, reader);
  }

  /**
   * The earliest instant after the clock at which a reading of their number changes by time alone, or Infinity.
   *
   * @param limits those of the reading
   */
  nextChange(
    customer: EvaluationContext,
    reader: DistinctReader,
    reading: (count: number) => unknown,
    limits: readonly number[],
  ): number {
    if (reader.within === Infinity) return Infinity;
    const { occurredAt } = this.#memory;
    return nextFall(occurredAt, this.#firstOf(customer, reader), reading, limits) + reader.within;
  }

  save(): DistinctMemory {
    return this.#memory;
  }

  /** What another reader tells apart makes no difference to this one. */
  #firstOf(customer: EvaluationContext, reader: DistinctReader): number {
    const { occurredAt, seq } = this.#memory;
    const earliest = Math.max(0, occurredAt.length - reader.capacity);
    return firstInScope(customer, reader, occurredAt, seq, earliest);
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
