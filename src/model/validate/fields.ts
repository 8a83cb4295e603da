import { LIMITS } from "../snapshot/limits.js";
import { limit } from "../snapshot/list.js";
import { at, type Problems } from "../snapshot/problem.js";
import { checkName, type Scope } from "./scope.js";
import { choose, EVENT, FIELDS, fits } from "./shapes.js";
import type { EventSchema, Field } from "../snapshot/types.js";

/** Reads the declared events with their properties, and reports what is wrong with them. */
export function readEvents(events: Record<string, unknown>, problems: Problems): Scope["events"] {
  limit(Object.keys(events).length, LIMITS.events, "events", problems);
  const read: Scope["events"] = new Map();
  for (const [name, event] of Object.entries(events)) {
    const path = at("events", name);
    checkName(name, path, problems);
    const sound = fits(EVENT, event, path, problems);
    const fields = sound ? (event as EventSchema).properties : undefined;
    read.set(name, fields && readFields(fields, at(path, "properties"), LIMITS.properties, problems));
  }
  return read;
}

/** Reads declared properties or traits; those that cannot be read are there without a type. */
export function readFields(
  fields: Record<string, unknown>,
  path: string,
  most: number,
  problems: Problems,
): Map<string, Field | undefined> {
  limit(Object.keys(fields).length, most, path, problems);
  const read = new Map<string, Field | undefined>();
  for (const [name, field] of Object.entries(fields)) {
    const place = at(path, name);
    checkName(name, place, problems);
    const sound = choose(FIELDS, "type", field, place, problems) && checkItems(field as Field, place, problems);
    read.set(name, sound ? (field as Field) : undefined);
  }
  return read;
}

function checkItems(field: Field, path: string, problems: Problems): boolean {
  if (field.type !== "array" || field.items.enum === undefined || field.items.type === "string") return true;
  problems.add(at(at(path, "items"), "enum"), "TYPE_MISMATCH", "only items of the type string have an enum");
  return false;
}
