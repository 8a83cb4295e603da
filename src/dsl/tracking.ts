import type { Tracking } from "../model/snapshot/types.js";
import type { AnyEvent } from "./event.js";
import { definitionOf, ModelError, recordMistake } from "./mistakes.js";
import { type Part, part } from "./part.js";

/** How calls of Segment's tracking API become operations. */
export type TrackingModel = Part<"tracking", Tracking>;

interface TrackingDefinition {
  /** Which id identifies the customer: `"userId"` (the default) or `"groupId"`; with a list, the first that a call has. */
  customer?: "userId" | "groupId" | readonly ("userId" | "groupId")[];
  /** Names of calls, and the events that they stand for. Any other name stands for the event of that name, or of that name in snake case; see
   * the guide. */
  events?: Readonly<Record<string, AnyEvent>>;
}

/** Declares how calls of Segment's tracking API become events and traits of customers. It affects nothing else. */
export function tracking(definition: TrackingDefinition): TrackingModel {
  const { customer = "userId", events = {} } = definitionOf(definition, "tracking(…)", "customer, events or both");
  const names = Object.entries(events as Readonly<Record<string, Partial<AnyEvent> | undefined>>).flatMap(
    ([name, event]) => {
      if (typeof event?.eventName === "string") return [[name, event.eventName] as const];
      recordMistake(new ModelError("NOT_AN_EVENT", `${JSON.stringify(name)} of tracking is not an event`));
      return [];
    },
  );
  const node = {
    customer: [customer].flat(),
    events: Object.fromEntries(names),
  };
  return part("tracking", () => node);
}
