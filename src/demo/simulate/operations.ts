/** The simulator's output: operations as `POST /v1/events/batch` accepts them, and the log of one customer from which they are made. */
import type { SentOperation } from "../../client/index.js";

type JsonValue = null | boolean | number | string | JsonValue[] | { [key: string]: JsonValue };
type Content = Record<string, JsonValue>;

export type SimulatedTrack = Required<Extract<SentOperation, { type: "track" }>> & { properties: Content };
export type SimulatedOperation = SimulatedTrack | (Extract<SentOperation, { type: "identify" }> & { traits: Content });

/** An operation with its place in time. An identify has a place too, though it carries no timestamp. */
export interface PlacedOperation {
  at: number;
  operation: SimulatedOperation;
}

/** Collects what happens to one customer, in any order; nothing after the history's end is kept. */
export class EventLog {
  readonly #entries: { at: number; name: string | null; content: Content }[] = [];

  constructor(
    readonly customerId: string,
    readonly end: number,
  ) {}

  track(at: number, event: string, properties: Content = {}): void {
    if (at < this.end) this.#entries.push({ at, name: event, content: properties });
  }

  identify(at: number, traits: Content): void {
    if (at < this.end) this.#entries.push({ at, name: null, content: traits });
  }

  /**
   * The operations in chronological order; those of one instant stay in theirs. Idempotency keys are made of history, customer and position:
   * sending the same history again duplicates nothing.
   */
  operations(historyName: string): PlacedOperation[] {
    const { customerId } = this;
    const ordered = this.#entries.toSorted((one, other) => one.at - other.at);
    return ordered.map(({ at, name, content }, position) => {
      if (name === null) return { at, operation: { type: "identify", customerId, traits: content } };
      const timestamp = new Date(at).toISOString();
      const idempotencyKey = `${historyName}/${customerId}/${position}`;
      const track = { type: "track", customerId, event: name, properties: content, timestamp, idempotencyKey } as const;
      return { at, operation: track };
    });
  }
}
