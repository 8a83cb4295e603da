import { isLater } from "./order.js";
import type { Order } from "./types.js";

/** How many of the latest occurrences are remembered: a late one rarely belongs before all of them. */
export const REMEMBERED_OF_LOG = 8;

/** The latest occurrences in order, and the latest of those that are not remembered. */
export interface LogMemory {
  occurredAt: number[];
  seq: number[];
  floor: Order | null;
}

/** Occurrences in order. What is later than the floor is known; before it, only what was added in this call. */
export class OccurrenceLog {
  readonly floor: Order | null;
  readonly #occurredAt: number[];
  readonly #seq: number[];

  constructor(memory: LogMemory | null) {
    this.floor = memory?.floor ?? null;
    this.#occurredAt = memory?.occurredAt.slice() ?? [];
    this.#seq = memory?.seq.slice() ?? [];
  }

  add({ occurredAt, seq }: Order): void {
    const at = this.#find({ occurredAt, seq });
    this.#occurredAt.splice(at, 0, occurredAt);
    this.#seq.splice(at, 0, seq);
  }

  /** The latest one before a place in order. */
  before(order: Order): Order | null {
    return this.#at(this.#find(order) - 1);
  }

  /** The earliest one after a place in order, where nothing stands. */
  after(order: Order): Order | null {
    return this.#at(this.#find(order));
  }

  all(): Order[] {
    return this.#seq.map((_, index) => this.#at(index)!);
  }

  toMemory(): LogMemory {
    const cut = Math.max(0, this.#seq.length - REMEMBERED_OF_LOG);
    const last = this.#at(cut - 1);
    const floor =
      last !== null && (this.floor === null || isLater(last.occurredAt, last.seq, this.floor)) ? last : this.floor;
    const memory: LogMemory = { occurredAt: [], seq: [], floor };
    for (let i = cut; i < this.#seq.length; i++) {
      const order = this.#at(i)!;
      // What stands before the floor is known in this call only.
      if (floor !== null && !isLater(order.occurredAt, order.seq, floor)) continue;
      memory.occurredAt.push(order.occurredAt);
      memory.seq.push(order.seq);
    }
    return memory;
  }

  /** How many are earlier than a place in order; most come in order, so the search begins at the end. */
  #find(order: Order): number {
    let at = this.#seq.length;
    while (at > 0 && isLater(this.#occurredAt[at - 1]!, this.#seq[at - 1]!, order)) at--;
    while (at > 0 && this.#occurredAt[at - 1] === order.occurredAt && this.#seq[at - 1] === order.seq) at--;
    return at;
  }

  #at(index: number): Order | null {
    return index < 0 || index >= this.#seq.length
      ? null
      : { occurredAt: this.#occurredAt[index]!, seq: this.#seq[index]! };
  }
}
