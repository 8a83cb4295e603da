import type { Json } from "./types.js";

/** Why a condition holds or not, at the customer's clock. A tree, as the condition is one. */
export type Explanation = {
  kind: string;
  /** The condition as a sentence: `count of "login" within 30d at least 3`. */
  text: string;
  /** What the condition asks for: a value, a list of values, or `at least 3`. */
  expected: Json;
  /** What there is; null where there is nothing. Where memory is bounded, `3 or more`. */
  actual: Json;
  met: boolean;
  /** What lacks: a number to be added to the actual one, or what is to become true; null where the condition is met. */
  missing: Json;
  /** When it flips by time alone, while no operation comes and nothing else changes; null: never. ISO 8601. */
  flipsAt: string | null;
  conditions?: Explanation[];
};
