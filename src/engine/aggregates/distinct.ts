import type { OpenCustomer, WorkingAggregate } from "../open-customer.js";
import type { DistinctMemory, DistinctValue, HistoryEvent } from "../state/types.js";
import { firstWhere } from "../state/history.js";
import { OccurrenceQueue } from "./occurrences.js";
import { type CompiledScope, firstInScope, type OccurrenceSelection, select } from "./scope.js";

/**
 * Occurrences leave a window earliest first; those of the same instant leave together. Returns the instant of the occurrences whose
 * leaving first changes the reading of the remaining count, or Infinity.
 *
 * Between two neighboring limits the reading is constant or strictly monotone, so it can change only with the next occurrence or
 * at a limit, and is evaluated only there.
 *
 * @param occurredAt the instants of all occurrences, ascending
 * @param first the index of the first occurrence in the window
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

/** The next lower count at which a reading may change; -1 if there is none. Called for each event, so it allocates nothing. */
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

/** The index of the first instant later than a given one, at or after index `from`. */
function firstAfter(instants: readonly number[], instant: number, from: number): number {
  // Most instants have a single occurrence.
  if (from === instants.length || instants[from]! > instant) return from;
  return firstWhere(instants.length, (index) => instants[index]! > instant);
}

/** The scope of some conditions, and how many values these need to distinguish. */
export interface DistinctReader extends CompiledScope {
  readonly capacity: number;
}

/**
 * The distinct values of a property, by their latest occurrences. A value counts as long as its latest occurrence does, so the n
 * most recent values suffice to decide whether there are at least n, in any window and since any boundary. Conditions of all
 * scopes therefore share one memory.
 */
export class DistinctAggregate implements WorkingAggregate {
  readonly #values: OccurrenceQueue<DistinctValue>;
  #changed = false;

  constructor(
    private readonly selection: OccurrenceSelection<DistinctValue>,
    private readonly aggregate: { readonly capacity: number },
    private readonly origin: DistinctMemory | undefined,
  ) {
    this.#values = new OccurrenceQueue(origin);
  }

  record(_customer: OpenCustomer, event: HistoryEvent): boolean {
    const value = select(this.selection, event);
    if (value === undefined) return false;
    const { occurredAt, seq } = event;
    const { capacity } = this.aggregate;
    const values = this.#values;
    const known = values.lists.value.lastIndexOf(value);
    const at = values.find(occurredAt, seq);
    if (at <= known || (known < 0 && at === 0 && values.length >= capacity)) return false;
    this.#changed = true;
    if (known >= 0 && at === known + 1) {
      values.renew(known, occurredAt, seq);
      return true;
    }
    if (known >= 0) values.remove(known, 1);
    values.insert(known >= 0 ? at - 1 : at, occurredAt, seq, value);
    if (values.length > capacity) values.remove(0, 1);
    return true;
  }

  /** When the value of an event last occurred; -Infinity if never, Infinity if the event has no value, undefined if that is not remembered. */
  lastOf(event: HistoryEvent): number | undefined {
    const value = select(this.selection, event);
    if (value === undefined) return Infinity;
    const values = this.#values;
    const at = values.lists.value.lastIndexOf(value);
    if (at >= 0) return values.occurredAt(at);
    return values.length < this.aggregate.capacity ? -Infinity : undefined;
  }

  /** How many values count at the customer's clock, up to the reader's capacity. */
  read(customer: OpenCustomer, reader: DistinctReader): number {
    return this.#values.length - this.#firstOf(customer, reader);
  }

  /**
   * The earliest instant after the clock at which a reading of their number changes by time alone, or Infinity.
   *
   * @param limits the limits of the reading
   */
  nextChange(
    customer: OpenCustomer,
    reader: DistinctReader,
    reading: (count: number) => unknown,
    limits: readonly number[],
  ): number {
    const { occurredAt } = this.#values.lists;
    return nextFall(occurredAt, this.#firstOf(customer, reader), reading, limits) + reader.within;
  }

  save(): DistinctMemory {
    if (!this.#changed && this.origin !== undefined) return this.origin;
    const { value, occurredAt, seq } = this.#values.lists;
    return { kind: "distinct", value, occurredAt, seq };
  }

  /** Limited to the reader's own capacity, so that the capacity of other readers makes no difference. */
  #firstOf(customer: OpenCustomer, reader: DistinctReader): number {
    const { lists, length } = this.#values;
    return firstInScope(customer, reader, lists, Math.max(0, length - reader.capacity));
  }
}
