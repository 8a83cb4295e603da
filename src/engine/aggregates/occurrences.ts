import type { OccurrencesMemory, Order } from "../state/types.js";

/** Occurrences with a number each, in order; the first are taken away cheaply. */
export class Occurrences {
  #at: number[];
  #seqs: number[];
  #values: number[];
  #first = 0;

  constructor(memory: OccurrencesMemory = { occurredAt: [], seq: [], value: [] }) {
    this.#at = memory.occurredAt.slice();
    this.#seqs = memory.seq.slice();
    this.#values = memory.value.slice();
  }

  clone(): Occurrences {
    return new Occurrences(this.toMemory(this.length));
  }

  get length(): number {
    return this.#at.length - this.#first;
  }

  occurredAt(index: number): number {
    return this.#at[this.#first + index]!;
  }

  seq(index: number): number {
    return this.#seqs[this.#first + index]!;
  }

  value(index: number): number {
    return this.#values[this.#first + index]!;
  }

  order(index: number): Order {
    return { occurredAt: this.occurredAt(index), seq: this.seq(index) };
  }

  /** Where an occurrence stands or would stand: how many are earlier. */
  find(occurredAt: number, seq: number): number {
    let low = this.#first;
    let high = this.#at.length;
    // Most come in order.
    if (high > low && this.#precedes(high - 1, occurredAt, seq)) return this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#precedes(middle, occurredAt, seq)) low = middle + 1;
      else high = middle;
    }
    return low - this.#first;
  }

  insert(index: number, occurredAt: number, seq: number, value: number): void {
    const at = this.#first + index;
    if (at === this.#at.length) {
      this.#at.push(occurredAt);
      this.#seqs.push(seq);
      this.#values.push(value);
    } else {
      this.#at.splice(at, 0, occurredAt);
      this.#seqs.splice(at, 0, seq);
      this.#values.splice(at, 0, value);
    }
  }

  remove(index: number, count: number): void {
    this.#at.splice(this.#first + index, count);
    this.#seqs.splice(this.#first + index, count);
    this.#values.splice(this.#first + index, count);
  }

  removeFirst(): void {
    this.#first++;
    if (this.#first > 64 && this.#first > this.#at.length / 2) {
      this.#at = this.#at.slice(this.#first);
      this.#seqs = this.#seqs.slice(this.#first);
      this.#values = this.#values.slice(this.#first);
      this.#first = 0;
    }
  }

  clear(): void {
    this.#at = [];
    this.#seqs = [];
    this.#values = [];
    this.#first = 0;
  }

  toMemory(limit: number): OccurrencesMemory {
    const end = this.#first + limit;
    return {
      occurredAt: this.#at.slice(this.#first, end),
      seq: this.#seqs.slice(this.#first, end),
      value: this.#values.slice(this.#first, end),
    };
  }

  #precedes(position: number, occurredAt: number, seq: number): boolean {
    const at = this.#at[position]!;
    return at < occurredAt || (at === occurredAt && this.#seqs[position]! < seq);
  }
}
