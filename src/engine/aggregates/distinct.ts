import type { OpenCustomer, WorkingAggregate } from "../open-customer.js";
import type { DistinctMemory, DistinctValue, HistoryEvent } from "../state/types.js";
import { firstWhere } from "../state/history.js";
import { OccurrenceQueue } from "./occurrences.js";
import { type CompiledScope, firstInScope, type OccurrenceSelection, select } from "./scope.js";

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
  // Most occur alone.
  if (from === instants.length || instants[from]! > instant) return from;
  return firstWhere(instants.length, (place) => instants[place]! > instant);
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
    const present = values.lists.value.lastIndexOf(value);
    const at = values.find(occurredAt, seq);
    if (at <= present || (present < 0 && at === 0 && values.length >= capacity)) return false;
    this.#changed = true;
    if (present >= 0 && at === present + 1) {
      values.renew(present, occurredAt, seq);
      return true;
    }
    if (present >= 0) values.remove(present, 1);
    values.insert(present >= 0 ? at - 1 : at, occurredAt, seq, value);
    if (values.length > capacity) values.remove(0, 1);
    return true;
  }

  /** When the value of an event last occurred; -Infinity where it never did, Infinity of an event without one, undefined where that is not remembered. */
  lastOf(event: HistoryEvent): number | undefined {
    const value = select(this.selection, event);
    if (value === undefined) return Infinity;
    const values = this.#values;
    const at = values.lists.value.lastIndexOf(value);
    if (at >= 0) return values.occurredAt(at);
    return values.length < this.aggregate.capacity ? -Infinity : undefined;
  }

  /** How many values count at the customer's clock, as far as the reader tells them apart. */
  read(customer: OpenCustomer, reader: DistinctReader): number {
    return this.#values.length - this.#firstOf(customer, reader);
  }

  /**
   * The earliest instant after the clock at which a reading of their number changes by time alone, or Infinity.
   *
   * @param limits those of the reading
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

  /** What another reader tells apart makes no difference to this one. */
  #firstOf(customer: OpenCustomer, reader: DistinctReader): number {
    const { lists, length } = this.#values;
    return firstInScope(customer, reader, lists, Math.max(0, length - reader.capacity));
  }
}
