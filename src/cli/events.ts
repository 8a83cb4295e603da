import type { Answer, Page } from "./api.js";
import { elementTexts, memberTexts } from "./json-text.js";

/** An event as the service lists it, as far as it is shown. */
export interface Event {
  id: string;
  customerId: string;
  event: string;
  occurredAt: string;
  status: "processed" | "pending";
}

/** The properties of each event of a list as they are written, so that long numbers keep all their digits. */
export function propertiesOf({ text, data }: Answer<Page<Event>>): ReadonlyMap<Event, string> {
  const items = elementTexts(memberTexts(text).get("data") ?? "[]");
  return new Map(data.data.map((event, index) => [event, propertiesIn(items[index] ?? "{}")]));
}

/** The properties of an event, of which this is the JSON text; empty where it has none. */
export function propertiesIn(item: string): string {
  const text = memberTexts(item).get("properties") ?? "";
  return text === "{}" ? "" : text;
}
