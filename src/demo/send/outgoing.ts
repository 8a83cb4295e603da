/** An operation on its way to the service, as the text that will stand in a batch. */
import type { SimulatedOperation } from "../simulate/operations.js";

export interface Outgoing {
  customerId: string;
  kind: "track" | "identify";
  /** One JSON object. Text, so that what came from a file is sent as it stands there, its numbers included. */
  json: string;
  /** Where it came from, for messages: "line 17", or the idempotency key. */
  origin: string;
}

export function outgoing(operation: SimulatedOperation): Outgoing {
  const { type: kind, customerId } = operation;
  const origin = operation.type === "track" ? operation.idempotencyKey : `the traits of ${customerId}`;
  return { customerId, kind, json: JSON.stringify(operation), origin };
}
