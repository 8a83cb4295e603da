import type { EventSelector } from "../snapshot/types.js";
import { SELECTOR } from "./symbols.js";

/** Occurrences of one event: an event itself, or those of an event that meet a filter, `order.where((p) => p.total.atLeast(50))`. */
export interface Selection {
  readonly [SELECTOR]: EventSelector;
}

/** The occurrences that a value stands for; null, which the validation refuses, for a value that stands for none. */
export function selectorOf(selection: Selection): EventSelector {
  return (selection as Partial<Selection> | null | undefined)?.[SELECTOR] ?? (null as never);
}
