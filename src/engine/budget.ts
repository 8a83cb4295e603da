import type { Effect } from "./types.js";

/**
 * How much one call of the engine may do: asked before each instant but the first, with the effects so far. Where it says no, the call ends
 * with the instant before, and another call goes on from there. The end is the same whatever the budget.
 */
export type Budget = (effects: readonly Effect[]) => boolean;

export const UNBOUNDED: Budget = () => true;

/**
 * How often time alone may move a customer on between two of its operations: lifecycle transitions, starts of journeys and raises of signals.
 * Every circle that time alone drives passes through one of them, so none goes round for ever. A move a day is below it for years.
 */
export const MOVES_BY_TIME_MAX = 1_000;
