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
