import type { Event } from "../../client/answers.js";
import type { ApiAnswer, ListPage } from "../../client/api.js";
import { elementTexts, memberTexts } from "../../output/json-text.js";

/** The properties of each event of a list as they are written, so that long numbers keep all their digits. */
export function propertiesOf({ text, data }: ApiAnswer<ListPage<Event>>): ReadonlyMap<Event, string> {
  const items = elementTexts(memberTexts(text).get("data") ?? "[]");
  return new Map(data.data.map((event, index) => [event, propertiesIn(items[index] ?? "{}")]));
}

/** The properties of an event, of which this is the JSON text; empty where it has none. */
export function propertiesIn(item: string): string {
  const text = memberTexts(item).get("properties") ?? "";
  return text === "{}" ? "" : text;
}
