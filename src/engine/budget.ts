import type { Effect } from "./types.js";

/**
 * How much one call of the engine may do: asked before each instant but the first, with the effects so far. Where it says no, the call ends
 * with the instant before, and another call goes on from there. The end is the same whatever the budget.
 */
export type Budget = (effects: readonly Effect[]) => boolean;

export const UNBOUNDED: Budget = () => true;
