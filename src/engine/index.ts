/**
 * The engine: a pure function from a compiled model, a customer's state and operations to a new state and effects. No
 * clock, no I/O; callers pass in time and data.
 */
export type { Budget, Model } from "./open-customer.js";
export { hasMemoryOf } from "./state/layout.js";
export { corrections, unemittedExpirations, type JourneySpan } from "./state/corrections.js";
export { MemoryRebuild, newCustomer } from "./state/customer.js";
export {
  emissionDocument,
  journeyProgress,
  stateDocument,
  type JourneyProgress,
  type StateDocument,
} from "./state/document.js";
export { evaluate, type Evaluated, type EvaluateOptions } from "./evaluate.js";
export { explain, explainHealth, type CustomerExplanation, type Explained, type ExplainOptions } from "./explain.js";
export { causeId, emissionIdOf, eventIdOf } from "./ids.js";
export { compileModel } from "./model/model.js";
export { firstLater, HistoryNeeded, isLater, isSamePlace } from "./state/history.js";
export { replayPart, type Replayed, type ReplayInput, type ReplayPart } from "./replay.js";
export { sampleThrough, type ModelOutput, type Sampled, type SamplePart } from "./sample.js";
export { stateOf, storedState, type StoredState } from "./state/stored.js";
export { timersHeldUntil, timersMayFire } from "./timers.js";
export { stateBudget, type RememberedPart, type StateBudget } from "./model/state-budget.js";
export type * from "./state/types.js";
