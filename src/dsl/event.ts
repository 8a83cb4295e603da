import type { EventSchema, EventSelector, Field } from "../snapshot/types.js";
import type { PropertyCondition } from "./condition.js";
import { NODE, nodeOf, propertyCondition } from "./condition.js";
import type { Count, CountCondition } from "./count.js";
import { count, countCondition } from "./count.js";
import type { AnyField, Fields } from "./field.js";
import type { Operand } from "./operand.js";
import { operand } from "./operand.js";
import { located } from "./site.js";

/** Occurrences of an event, as conditions. */
export interface Occurrences {
  /** How many there are, to be compared: `.count().atLeast(3).within("30d")`. */
  count(): Count;
  /** There is at least one; of all time, unless narrowed by `.within` or `.since`. */
  happened(): CountCondition;
  /** There is none; of all time, unless narrowed by `.within` or `.since`. */
  never(): CountCondition;
}

/** The properties of an event, to be asked in `where`. */
export type Properties<F extends Fields> = { readonly [Name in keyof F]: Operand<F[Name], PropertyCondition> };

/** An event that the product reports. */
export interface EventModel<F extends Fields = Fields> extends Occurrences {
  readonly [NODE]: EventSchema;
  readonly eventName: string;
  /** Only the occurrences whose properties meet a condition: `.where((p) => p.seats.atLeast(5))`. */
  where(choose: (properties: Properties<F>) => PropertyCondition): Occurrences;
}

/** Of an event without properties none can be asked. */
type NoFields = Readonly<Record<string, never>>;

/** An event of any shape, for lists of events. */
export type AnyEvent = Omit<EventModel, "where">;

/**
 * Declares an event. Its properties are required unless they are `optional()`; under `strictSchema` an event with other properties,
 * or with a value of another type, is refused.
 *
 * @param name as the product sends it; any text of 1 to 256 characters, spaces included.
 */
export function event(name: string): EventModel<NoFields>;
export function event<const F extends Fields>(name: string, fields: F): EventModel<F>;
export function event<F extends Fields>(name: string, fields?: F): EventModel<F> {
  const schema: EventSchema = located({ properties: nodesOf(fields ?? {}) });
  return {
    [NODE]: schema,
    eventName: name,
    where: (choose) => occurrences({ event: name, where: nodeOf(choose(propertiesOf(schema) as Properties<F>)) }),
    ...occurrences({ event: name }),
  };
}

function occurrences(selector: EventSelector): Occurrences {
  return {
    count: () => count(selector),
    happened: () => countCondition(selector, "gte", 1),
    never: () => countCondition(selector, "eq", 0),
  };
}

function propertiesOf(schema: EventSchema): object {
  const properties: Record<string, object> = Object.create(null) as Record<string, object>;
  for (const [property, field] of Object.entries<Field | null>(schema.properties)) {
    if (!field) continue;
    const exists = () => propertyCondition({ kind: "exists", property });
    properties[property] = operand(field, {
      compare: (operator, value) => propertyCondition({ kind: "compare", property, operator, value }),
      exists,
      missing: () => propertyCondition({ kind: "not", condition: nodeOf(exists()) }),
    });
  }
  return properties;
}

/** The snapshot's part of declared fields (null for what is no field, which the validation refuses), in a record that takes any name, `__proto__` included: the validation refuses that one. */
export function nodesOf(fields: Fields): EventSchema["properties"] {
  const entries = Object.entries<Partial<AnyField> | null | undefined>(fields);
  return Object.fromEntries(entries.map(([name, field]) => [name, field?.[NODE] ?? null])) as EventSchema["properties"];
}
