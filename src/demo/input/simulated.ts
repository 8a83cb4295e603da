/** The simulated history as the input of a run. */
import { outgoing } from "../send/outgoing.js";
import { simulateHistory, type HistoryOptions } from "../simulate/history.js";
import type { SimulatedOperation } from "../simulate/operations.js";
import type { Input } from "./input.js";

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
    read: () => encode(history),
  };
}

function* encode(history: readonly SimulatedOperation[]) {
  for (const operation of history) yield outgoing(operation);
}
