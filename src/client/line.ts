import type { Entry } from "./entry.js";
import { BatchRefusedError, type ClientError } from "./errors.js";
import type { BatchResult } from "./types.js";

/** The operations of one call of `batch()`, until all of them are answered. */
export class Group {
  readonly result: Promise<BatchResult>;
  readonly #refused: { index: number; error: ClientError }[] = [];
  readonly #eventIds: string[] = [];
  #accepted = 0;
  #resolve!: (result: BatchResult) => void;
  #reject!: (error: ClientError) => void;

  constructor(private readonly size: number) {
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
    });
  }

  /** They are answered in their order. @param eventId null for an identify operation */
  accepted(eventId: string | null): void {
    this.#accepted++;
    if (eventId !== null) this.#eventIds.push(eventId);
    this.#settle();
  }

  refused(index: number, error: ClientError): void {
    this.#refused.push({ index, error });
    this.#settle();
  }

  /** Nobody waits for the rest of them any more. */
  abandon(error: ClientError): void {
    this.#reject(error);
  }

  #settle(): void {
    if (this.#accepted + this.#refused.length < this.size) return;
    if (this.#refused.length === 0) this.#resolve({ accepted: this.#accepted, eventIds: this.#eventIds });
    else this.#reject(new BatchRefusedError(this.#accepted, this.#refused));
  }
}

/** An operation in the line. */
export interface Waiting extends Entry {
  /** 1 for the first that came, one more for each after it. */
  number: number;
  /** The call of `batch()` that it is part of, and its place there; null for one that was queued. */
  of: { group: Group; index: number } | null;
}

/** Most that goes in one request. */
export interface BatchLimits {
  operations: number;
  /** Of the operations' texts. One that is larger goes alone. */
  bytes: number;
}

/** Operations in the order in which they came. */
export class Line {
  #entries: Waiting[] = [];
  /** Those before it have left. */
  #head = 0;
  #last = 0;
  #bytes = 0;

  /** The number of the one that came last; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  get first(): Waiting | undefined {
    return this.#entries[this.#head];
  }

  push(entry: Entry, of: Waiting["of"]): void {
    this.#entries.push({ ...entry, number: ++this.#last, of });
    this.#bytes += entry.bytes;
  }

  /** Whether there is enough for a whole batch. */
  fills({ operations, bytes }: BatchLimits): boolean {
    return this.#entries.length - this.#head >= operations || this.#bytes >= bytes;
  }

  /** Takes the first ones out, as many as may go at once; at least one where there is any. */
  take(limits: BatchLimits): Waiting[] {
    let end = this.#head;
    let bytes = 0;
    while (end < this.#entries.length && end - this.#head < limits.operations) {
      bytes += this.#entries[end]!.bytes + 1;
      if (bytes > limits.bytes && end > this.#head) break;
      end++;
    }
    const taken = this.#entries.slice(this.#head, end);
    this.#head = end;
    for (const entry of taken) this.#bytes -= entry.bytes;
    // Seldom enough that each entry is moved once on average.
    if (this.#head * 2 > this.#entries.length) {
      this.#entries = this.#entries.slice(this.#head);
      this.#head = 0;
    }
    return taken;
  }

  /** Puts back what was taken last. */
  putBack(entries: readonly Waiting[]): void {
    this.#entries = [...entries, ...this.#entries.slice(this.#head)];
    this.#head = 0;
    for (const entry of entries) this.#bytes += entry.bytes;
  }

  /** Takes out what is chosen, wherever it stands. */
  remove(isChosen: (entry: Waiting) => boolean): void {
    const left = this.#entries.slice(this.#head).filter((entry) => !isChosen(entry));
    this.#entries = left;
    this.#head = 0;
    this.#bytes = left.reduce((sum, entry) => sum + entry.bytes, 0);
  }

  all(): readonly Waiting[] {
    return this.#entries.slice(this.#head);
  }
}
