import type { Measure as MeasureNode } from "../snapshot/types.js";
import type { MEASURE } from "./symbols.js";

/** A number that a health component can be scored by, with `scale` or `steps`: a count, sum, average, least or greatest value, a distinct
 * count, the latest value of a number property, days since, a numeric trait. */
export interface Measure {
  readonly [MEASURE]: MeasureNode;
}
