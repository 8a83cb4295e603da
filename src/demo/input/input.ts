import type { Outgoing } from "../send/outgoing.js";

/** What a run sends, known before it is sent. */
export interface Input {
  title: string;
  /** Track and identify operations. */
  operations: number;
  /** Track operations. */
  events: number;
  /** Track operations with different idempotency keys: as many events as the service will hold. */
  distinctEvents: number;
  customers: number;
  /** Of the explicit timestamps, in milliseconds; null where there are none. */
  span: { first: number; last: number } | null;
  /** Reads the operations, from the beginning at each call. */
  read: () => Iterable<Outgoing> | AsyncIterable<Outgoing>;
}
