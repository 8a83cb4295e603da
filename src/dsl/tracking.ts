import type { Tracking } from "../model/snapshot/types.js";
import type { AnyEvent } from "./event.js";
import { definitionOf, ModelError, recordMistake } from "./mistakes.js";
import { type Part, part } from "./part.js";

/** How calls of Segment's tracking API become operations. */
export type TrackingModel = Part<"tracking", Tracking>;

interface TrackingDefinition {
  /** Which id is the customer: `"userId"` unless set, or the id of the group; of a list, the first that a call has. */
  customer?: "userId" | "groupId" | readonly ("userId" | "groupId")[];
  /** Names that calls have, and the events that they stand for. Of other names see the guide: their own, or the same in snake case. */
  events?: Readonly<Record<string, AnyEvent>>;
}

/** Declares how calls of Segment's tracking API become events and traits of customers. Nothing else is affected by it. */
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
