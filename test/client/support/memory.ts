import type { SentOperation } from "../../../src/client/index.js";
import { json, refusal, type Backend } from "./front.js";

/** Keeps accepted operations, by the contract of the batch endpoint: all or nothing, each key once, events named "bad" refused by the schema. */
export class Memory {
  /** The accepted operations in order: events once, identify operations as often as received. */
  readonly accepted: SentOperation[] = [];
  readonly #byKey = new Map<string, string>();

  readonly backend: Backend = (body) => {
    const { events } = JSON.parse(body) as { events: SentOperation[] };
    const diagnostics = events.flatMap((operation, index) =>
      operation.type === "track" && operation.event === "bad"
        ? [{ code: "UNKNOWN_EVENT", message: "No such event.", path: `events[${index}].event` }]
        : [],
    );
    if (diagnostics.length > 0)
      return Promise.resolve(refusal(422, "UNKNOWN_EVENT", { field: diagnostics[0]!.path, diagnostics }));
    const conflicts = events.flatMap((operation, index) =>
      operation.type === "track" &&
      (this.#byKey.get(operation.idempotencyKey) ?? JSON.stringify(operation)) !== JSON.stringify(operation)
        ? [{ code: "IDEMPOTENCY_CONFLICT", message: "Used before.", path: `events[${index}].idempotencyKey` }]
        : [],
    );
    const [first, ...others] = conflicts;
    if (first !== undefined) {
      const several = others.length > 0 && { diagnostics: conflicts };
      return Promise.resolve(refusal(409, first.code, { field: first.path, ...several }));
    }
    const eventIds: string[] = [];
    for (const operation of events) {
      if (operation.type === "track") {
        eventIds.push(`evt_${operation.idempotencyKey}`);
        if (this.#byKey.has(operation.idempotencyKey)) continue;
        this.#byKey.set(operation.idempotencyKey, JSON.stringify(operation));
      }
      this.accepted.push(operation);
    }
    return Promise.resolve(json(202, { accepted: events.length, rejected: 0, eventIds }));
  };
}
