import type { Trigger as TriggerNode } from "../snapshot/types.js";
import type { Selection } from "./selection.js";
import { located } from "./site.js";
import { SELECTOR, TRIGGER } from "./symbols.js";

/** Something that makes a rule run, once for each evaluation in which it occurs. */
export interface Trigger {
  readonly [TRIGGER]: TriggerNode;
}

/** What a rule waits for: an event, an event that meets a filter (`invoicePaid.where(…)`), `traitsChanged`, a segment entered or left, a
 * signal raised or cleared. */
export type Occasion = Trigger | Selection;

/** Makes a trigger of its part of the snapshot. */
export function trigger(node: TriggerNode): Trigger {
  return { [TRIGGER]: located(node) };
}

/** For a rule's `on`: an identify operation changed at least one trait. */
export const traitsChanged: Trigger = { [TRIGGER]: { kind: "traitsChanged" } };

/** The snapshot's part of what a rule waits for; null, which the validation refuses, for anything else. */
export function triggerOf(occasion: Occasion): TriggerNode {
  const { [TRIGGER]: node, [SELECTOR]: of } = (occasion as Partial<Trigger & Selection> | undefined) ?? {};
  return of ? { kind: "event", of } : (node ?? (null as never));
}
