import type { OccurrencesMemory, Order, StreamMemory } from "../state/types.js";

/** How many of the oldest occurrences of a window are stored; the others are read from history when these have left. */
export const REMEMBERED_OF_WINDOW = 32;

/**
 * Occurrences, each with a value, in order; removing the first is cheap. The lists passed to the constructor are never changed. A queue and
 * its clone share lists: one of them may append in place, and every other change copies them first.
 */
export class OccurrenceQueue<V = number> {
  #lists: OccurrencesMemory<V>;
  #first = 0;
  /** The end of this queue in the lists; elements after it belong to a clone. */
  #end: number;
  #isBorrowed = true;
  #isShared = false;

  constructor(lists: OccurrencesMemory<V> = { occurredAt: [], seq: [], value: [] }) {
    this.#lists = lists;
    this.#end = lists.seq.length;
  }

  clone(): OccurrenceQueue<V> {
    const clone = new OccurrenceQueue(this.#lists);
    clone.#first = this.#first;
    clone.#end = this.#end;
    clone.#isBorrowed = this.#isBorrowed;
    clone.#isShared = this.#isShared = true;
    return clone;
  }

  get length(): number {
    return this.#end - this.#first;
  }

  get lists(): OccurrencesMemory<V> {
    if (this.length < this.#lists.seq.length) this.#copy();
    return this.#lists;
  }

  occurredAt(index: number): number {
    return this.#lists.occurredAt[this.#first + index]!;
  }

  value(index: number): V {
    return this.#lists.value[this.#first + index]!;
  }

  order(index: number): Order {
    return { occurredAt: this.occurredAt(index), seq: this.#lists.seq[this.#first + index]! };
  }

  /** The index of an occurrence, or where it would be inserted: how many are earlier. */
  find(occurredAt: number, seq: number): number {
    let low = this.#first;
    let high = this.#end;
    // Most arrive in order.
    if (high > low && this.#precedes(high - 1, occurredAt, seq)) return this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#precedes(middle, occurredAt, seq)) low = middle + 1;
      else high = middle;
    }
    return low - this.#first;
  }

  /** How many are earlier than a position; all of them for null. */
  before(position: Order | null): number {
    return position === null ? this.length : this.find(position.occurredAt, position.seq);
  }

  /** The position of occurrence number `limit` (from 0) if it is before `end`, otherwise `end`. */
  firstBeyond(limit: number, end: Order | null): Order | null {
    return this.before(end) > limit ? this.order(limit) : end;
  }

  insert(index: number, occurredAt: number, seq: number, value: V): void {
    if (index < this.length) {
      const lists = this.#own();
      const at = this.#first + index;
      lists.occurredAt.splice(at, 0, occurredAt);
      lists.seq.splice(at, 0, seq);
      lists.value.splice(at, 0, value);
    } else {
      const isFree = !this.#isBorrowed && this.#end === this.#lists.seq.length;
      const lists = isFree ? this.#lists : this.#own();
      lists.occurredAt.push(occurredAt);
      lists.seq.push(seq);
      lists.value.push(value);
    }
    this.#end++;
  }

  /** Moves a value to another position, provided that no other value lies in between. */
  renew(index: number, occurredAt: number, seq: number): void {
    const lists = this.#own();
    lists.occurredAt[this.#first + index] = occurredAt;
    lists.seq[this.#first + index] = seq;
  }

  remove(index: number, count: number): void {
    const lists = this.#own();
    lists.occurredAt.splice(this.#first + index, count);
    lists.seq.splice(this.#first + index, count);
    lists.value.splice(this.#first + index, count);
    this.#end -= count;
  }

  removeFirst(): void {
    this.#first++;
    if (this.#first > 64 && this.#first > this.#end / 2) this.#copy();
  }

  clear(): void {
    this.#first = this.#end;
    this.#copy();
  }

  toMemory(limit: number): OccurrencesMemory<V> {
    const { occurredAt, seq, value } = this.#lists;
    const from = this.#first;
    const end = Math.min(from + limit, this.#end);
    return { occurredAt: occurredAt.slice(from, end), seq: seq.slice(from, end), value: value.slice(from, end) };
  }

  /** The lists, safe to change. */
  #own(): OccurrencesMemory<V> {
    if (this.#isBorrowed || this.#isShared) this.#copy();
    return this.#lists;
  }

  #copy(): void {
    this.#lists = this.toMemory(this.length);
    this.#end = this.length;
    this.#first = 0;
    this.#isBorrowed = this.#isShared = false;
  }

  #precedes(position: number, occurredAt: number, seq: number): boolean {
    const at = this.#lists.occurredAt[position]!;
    return at < occurredAt || (at === occurredAt && this.#lists.seq[position]! < seq);
  }
}

/**
 * Adds an occurrence to a stream, in order. Between two trims up to twice the capacity (and 16) is held, so that dropping the
 * oldest is cheap per occurrence; readers count from the end.
 */
export function addOccurrence(memory: StreamMemory, capacity: number, occurredAt: number, seq: number): void {
  memory.count++;
  if (capacity === 0) return;
  const instants = memory.occurredAt;
  const seqs = memory.seq;
  let at = instants.length;
  while (at > 0 && (instants[at - 1]! > occurredAt || (instants[at - 1] === occurredAt && seqs[at - 1]! > seq))) at--;
  if (at === instants.length) {
    instants.push(occurredAt);
    seqs.push(seq);
  } else if (at > 0 || instants.length < capacity) {
    instants.splice(at, 0, occurredAt);
    seqs.splice(at, 0, seq);
  }
  if (instants.length > 2 * capacity + 16) trimOccurrences(memory, capacity);
}

/** Drops the oldest occurrences beyond the capacity. */
export function trimOccurrences(memory: StreamMemory, capacity: number): void {
  const surplus = memory.occurredAt.length - capacity;
  if (surplus <= 0) return;
  memory.occurredAt.splice(0, surplus);
  memory.seq.splice(0, surplus);
}
