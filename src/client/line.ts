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
  /** Nobody waits for the rest of them any more. */
  abandon!: (error: ClientError) => void;

  constructor(private readonly size: number) {
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.abandon = reject;
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

  #settle(): void {
    if (this.#accepted + this.#refused.length < this.size) return;
    if (this.#refused.length === 0) this.#resolve({ accepted: this.#accepted, eventIds: this.#eventIds });
    else this.abandon(new BatchRefusedError(this.#accepted, this.#refused));
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
  #last = 0;
  #bytes = 0;

  /** The number of the one that came last; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  get first(): Waiting | undefined {
    return this.#entries[0];
  }

  push(entry: Entry, of: Waiting["of"]): void {
    this.#entries.push({ ...entry, number: ++this.#last, of });
    this.#bytes += entry.bytes;
  }

  fills({ operations, bytes }: BatchLimits): boolean {
    return this.#entries.length >= operations || this.#bytes >= bytes;
  }

  /** Takes the first ones out, as many as may go at once; at least one where there is any. */
  take(limits: BatchLimits): Waiting[] {
    let end = 0;
    let bytes = 0;
    for (const entry of this.#entries.slice(0, limits.operations)) {
      bytes += entry.bytes + 1;
      if (bytes > limits.bytes && end > 0) break;
      end++;
    }
    const taken = this.#entries.splice(0, end);
    for (const entry of taken) this.#bytes -= entry.bytes;
    return taken;
  }

  putBack(entries: readonly Waiting[]): void {
    this.#entries = [...entries, ...this.#entries];
    for (const entry of entries) this.#bytes += entry.bytes;
  }

  remove(isChosen: (entry: Waiting) => boolean): void {
    this.#entries = this.#entries.filter((entry) => !isChosen(entry));
    this.#bytes = this.#entries.reduce((sum, entry) => sum + entry.bytes, 0);
  }

  all(): readonly Waiting[] {
    return [...this.#entries];
  }
}
