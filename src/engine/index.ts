/**
 * The engine: a pure function from a compiled model, a customer's state and operations to a new state and effects. No
 * clock, no I/O; callers hand in time and data.
 */
export { newCustomer, rebuildMemory } from "./customer.js";
export { stateDocument, type StateDocument } from "./document.js";
export { evaluate, type Evaluated, type EvaluateOptions } from "./evaluate.js";
export { compileModel, type Model } from "./model.js";
export { isBackfilling } from "./settle.js";
export type {
  Cause,
  CustomerState,
  Effect,
  HistoryEvent,
  IdentifyOperation,
  Json,
  Operation,
  TrackOperation,
} from "./types.js";
