import type { EventSelector, Trigger as TriggerNode } from "../model/snapshot/types.js";
import { withSourceLocation, SELECTOR, TRIGGER } from "./part.js";

/** Occurrences of one event: an event itself, or those of an event that meet a filter, `order.where((p) => p.total.atLeast(50))`. */
export interface Selection {
  readonly [SELECTOR]: EventSelector;
}

/** The occurrences that a value stands for; null, which the validation refuses, for a value that stands for none. */
export function selectorOf(selection: Selection): EventSelector {
  return (selection as Partial<Selection> | null | undefined)?.[SELECTOR] ?? (null as never);
}

/** Something that makes a rule run, once for each evaluation in which it occurs. */
export interface Trigger {
  readonly [TRIGGER]: TriggerNode;
}

/** What a rule waits for: an event, an event that meets a filter (`invoicePaid.where(…)`), `traitsChanged`, a segment entered or left, a
 * signal raised or cleared. */
export type Occasion = Trigger | Selection;

/** Makes a trigger of its part of the snapshot. */
export function trigger(node: TriggerNode): Trigger {
  return { [TRIGGER]: withSourceLocation(node) };
}

/** For a rule's `on`: an identify operation changed at least one trait. */
export const traitsChanged: Trigger = { [TRIGGER]: { kind: "traitsChanged" } };

/** The snapshot's part of what a rule waits for; null, which the validation refuses, for anything else. */
export function triggerOf(occasion: Occasion): TriggerNode {
  const { [TRIGGER]: node, [SELECTOR]: of } = (occasion as Partial<Trigger & Selection> | undefined) ?? {};
  return of ? { kind: "event", of } : (node ?? (null as never));
}
