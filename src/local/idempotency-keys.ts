import type { TrackRequest } from "../ingestion/shape.js";
import { parseTimestamp } from "../ingestion/timestamp.js";
import { canonicalJson } from "../model/snapshot/canonical.js";

interface KeyEntry {
  payload: string;
  eventId: string;
}

/** Idempotency keys and the payloads that they stand for: customer, event, properties and the explicit timestamp as an instant. */
export class IdempotencyKeys {
  readonly #entries = new Map<string, KeyEntry>();

  /**
   * Looks up the keys of a request, whose operations come with the event ids that they get if they are new; `commit` remembers them. By position: the event
   * that was accepted under the key before; and the positions of the keys that stand for another payload.
   */
  look(operations: readonly (readonly [operation: TrackRequest | null, eventId: string])[]) {
    const added = new Map<string, KeyEntry>();
    const conflicts: number[] = [];
    const originals = operations.map(([operation, eventId], position) => {
      const key = operation?.idempotencyKey;
      if (operation === null || key === undefined) return undefined;
      const { customerId, event, properties = {}, timestamp } = operation;
      const at = timestamp === undefined ? null : parseTimestamp(timestamp);
      const payload = canonicalJson([customerId, event, properties, at && [at.milliseconds, at.microseconds]]);
      const known = this.#entries.get(key) ?? added.get(key);
      if (known === undefined) added.set(key, { payload, eventId });
      else if (known.payload !== payload) conflicts.push(position);
      return known?.eventId;
    });
    return {
      originals,
      conflicts,
      commit: () => {
        for (const [key, entry] of added) this.#entries.set(key, entry);
      },
    };
  }
}
