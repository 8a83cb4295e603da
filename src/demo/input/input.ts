import type { SentOperation } from "../../client/index.js";
import { type HistoryOptions, simulateHistory } from "../simulate/history.js";

/** What a run sends, known before it is sent. */
export interface Input {
  title: string;
  operations: number;
  events: number;
  /** Track operations with different idempotency keys: as many events as the service will hold. */
  distinctEvents: number;
  customers: number;
  /** Of the explicit timestamps, in milliseconds; null where there are none. */
  span: { first: number; last: number } | null;
  /** Reads the operations, from the beginning at each call. */
  read: () => Iterable<SentOperation> | AsyncIterable<SentOperation>;
}

/** The simulated history as the input of a run. */
export function simulatedInput(options: HistoryOptions): Input {
  const history = simulateHistory(options);
  const instants = history.flatMap((operation) =>
    operation.type === "track" ? [Date.parse(operation.timestamp)] : [],
  );
  const [first, last] = [instants[0], instants.at(-1)];
  return {
    title: `simulated history, seed ${options.seed}`,
    operations: history.length,
    events: instants.length,
    distinctEvents: instants.length,
    customers: new Set(history.map(({ customerId }) => customerId)).size,
    span: first === undefined || last === undefined ? null : { first, last },
    read: () => history,
  };
}
