import type { EventSchema, EventSelector, Field } from "../model/snapshot/types.js";
import { nodeOf, not, type PropertyCondition, propertyCondition } from "./condition.js";
import type { AnyField, Fields } from "./field.js";
import { type Occurrences, occurrences } from "./occurrences.js";
import { type Operand, operand } from "./operand.js";
import { attempt, RECOVERY_NODE, strictProxy } from "./mistakes.js";
import { NODE, RECORD_ONLY, withSourceLocation } from "./part.js";

/** The properties of an event, as `where` passes them. */
export type Properties<F extends Fields> = { readonly [Name in keyof F]: Operand<F[Name], PropertyCondition> };

/** An event that your product sends. */
export interface EventModel<F extends Fields = Fields> extends Occurrences<F>, AnyEvent {
  /** Selects the occurrences whose properties meet a condition: `.where((p) => p.seats.atLeast(5))`. */
  where(choose: (properties: Properties<F>) => PropertyCondition): Occurrences<F>;
  /** The same event, marked as not meant for conditions: it is only recorded for people, and no warning says that nothing reads it. */
  recordOnly(): EventModel<F>;
}

/** An event of any shape, for lists of events. */
export interface AnyEvent {
  readonly [NODE]: EventSchema;
  readonly [RECORD_ONLY]?: true;
  readonly eventName: string;
}

/** The properties of an event without properties. */
// oxlint-disable-next-line typescript/no-generated-empty-object-type -- it has no keys: no name is a property's
type NoFields = Record<never, never>;

/**
 * Declares an event. Properties are required unless they are `optional()`. Under `strictSchema`, an event with undeclared properties or
 * with a value of another type is refused.
 *
 * @param name as your product sends it; any text of 1 to 256 characters, spaces included.
 */
export function event(name: string): EventModel<NoFields>;
export function event<const F extends Fields>(name: string, fields: F): EventModel<F>;
export function event(name: string, fields: Fields = {}): EventModel {
  const schema: EventSchema = withSourceLocation({ properties: nodesOf(fields) });
  const all: EventSelector = { event: name };
  const owner = `the event ${JSON.stringify(name)}`;
  const guard = { owner, standIns: { selector: all, measure: { kind: "count", of: all } as const } };
  const select = (of: EventSelector) => strictProxy(occurrences(of, schema.properties), guard);
  const members = {
    ...occurrences(all, schema.properties),
    [NODE]: schema,
    eventName: name,
    where: (choose: (properties: Properties<Fields>) => PropertyCondition) => {
      const where = nodeOf(attempt(() => choose(propertiesOf(owner, schema) as Properties<Fields>)));
      return select((where as unknown) === RECOVERY_NODE ? all : { event: name, where });
    },
    recordOnly: (): EventModel => strictProxy({ ...members, [RECORD_ONLY]: true as const }, guard),
  };
  return strictProxy(members, guard);
}

function propertiesOf(owner: string, schema: EventSchema): object {
  const properties: Record<string, object> = Object.create(null) as Record<string, object>;
  for (const [property, field] of Object.entries<Field | null>(schema.properties)) {
    if (!field) continue;
    const exists = () => propertyCondition({ kind: "exists", property });
    const questions = operand(field, {
      compare: (operator, value) => propertyCondition({ kind: "compare", property, operator, value }),
      exists,
      missing: () => not(exists()),
    });
    properties[property] = strictProxy(questions, {
      owner: `the property ${JSON.stringify(property)} (${field.type}) of ${owner}`,
    });
  }
  return strictProxy(properties, { owner, code: "UNKNOWN_PROPERTY", member: "property" });
}

/** The snapshot nodes of declared fields (null for a value that is not a field, which the validation refuses), in a record that allows any
 * name, including `__proto__`. */
export function nodesOf(fields: Fields): EventSchema["properties"] {
  const entries = Object.entries<Partial<AnyField> | null | undefined>(fields);
  return Object.fromEntries(entries.map(([name, field]) => [name, field?.[NODE] ?? null])) as EventSchema["properties"];
}
