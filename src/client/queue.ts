import type { Entry } from "./entry.js";
import { BatchRefusedError, type ClientError } from "./errors.js";
import type { BatchResult } from "./types.js";

/** The operations of one call of `batch()`, until all are answered. */
export class Group {
  readonly result: Promise<BatchResult>;
  readonly #refused: { index: number; error: ClientError }[] = [];
  readonly #eventIds: string[] = [];
  #accepted = 0;
  #resolve!: (result: BatchResult) => void;
  /** Rejects the call: its remaining operations are not waited for. */
  abandon!: (error: ClientError) => void;

  constructor(private readonly size: number) {
    this.result = new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.abandon = reject;
    });
  }

  /** Must be called in the order of the operations. @param eventId null for an identify operation */
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

/** An operation in the queue. */
export interface QueuedEntry extends Entry {
  /** The operation's place among all that were ever queued, from 1. */
  number: number;
  /** The call of `batch()` that it belongs to, and its index there; null for an operation of `track` or `identify`. */
  of: { group: Group; index: number } | null;
}

/** Limits of one request. */
export interface BatchLimits {
  operations: number;
  /** The total size of the operations' texts. A larger operation is sent alone. */
  bytes: number;
}

/** Operations in the order in which they were queued. */
export class EntryQueue {
  #entries: QueuedEntry[] = [];
  #last = 0;
  #bytes = 0;

  /** The number of the latest operation; 0 before the first. */
  get last(): number {
    return this.#last;
  }

  get first(): QueuedEntry | undefined {
    return this.#entries[0];
  }

  push(entry: Entry, of: QueuedEntry["of"]): void {
    this.#entries.push({ ...entry, number: ++this.#last, of });
    this.#bytes += entry.bytes;
  }

  /** Whether the operations fill a batch. */
  fills({ operations, bytes }: BatchLimits): boolean {
    return this.#entries.length >= operations || this.#bytes >= bytes;
  }

  /** Removes and returns the operations of the next batch: as many as the limits allow, but at least one if there is any. */
  take(limits: BatchLimits): QueuedEntry[] {
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

  putBack(entries: readonly QueuedEntry[]): void {
    this.#entries = [...entries, ...this.#entries];
    for (const entry of entries) this.#bytes += entry.bytes;
  }

  remove(isChosen: (entry: QueuedEntry) => boolean): void {
    this.#entries = this.#entries.filter((entry) => !isChosen(entry));
    this.#bytes = this.#entries.reduce((sum, entry) => sum + entry.bytes, 0);
  }

  all(): readonly QueuedEntry[] {
    return [...this.#entries];
  }
}
