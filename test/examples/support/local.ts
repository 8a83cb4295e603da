import { requestsOf } from "../../../examples/tools/walk.js";
import type { Effect } from "../../../src/engine/index.js";
import { TestClock } from "../../../src/local/clock.js";
import { LocalEngine, type LocalModel, type RequestOperation } from "../../../src/local/engine.js";

/** The result of `svc dev` for a file of operations. */
export interface Played {
  engine: LocalEngine;
  effects: readonly Effect[];
}

/**
 * Replays a file of operations in the local engine in real order, up to an instant.
 *
 * @throws {ApiError} if the model's schema refuses an operation
 */
export function playLocally(model: LocalModel, data: string, end: string): Played {
  const requests = requestsOf(data);
  const clock = new TestClock(requests[0]!.at);
  const engine = new LocalEngine(model, { clock, environment: "test", configVersion: "v1", settleMs: 30_000 });
  const changes = requests.flatMap(({ at, operations }) => {
    clock.moveTo(at);
    return [...engine.advance(), ...engine.accept(operations as RequestOperation[], "batch").changes];
  });
  clock.moveTo(Date.parse(end));
  changes.push(...engine.advance());
  return { engine, effects: changes.flatMap(({ effects }) => effects) };
}
