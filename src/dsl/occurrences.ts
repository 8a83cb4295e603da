import type { EventSelector, Field, NumberAggregate } from "../snapshot/types.js";
import type { Fields, NumberField, ScalarField } from "./field.js";
import type { Latest } from "./latest.js";
import { latest } from "./latest.js";
import type { Quantity } from "./quantity.js";
import { openCondition, quantity } from "./quantity.js";
import type { OpenCondition } from "./scope.js";
import type { Selection } from "./selection.js";
import { SELECTOR } from "./symbols.js";

/** The names of the properties whose type is one of these. */
type Names<F extends Fields, Type> = { [Name in keyof F]: F[Name] extends Type ? Name : never }[keyof F] & string;

/** What can be asked about the occurrences of an event. All of it is over all time, unless narrowed by `.within` or `.since`. */
export interface Occurrences<F extends Fields = Fields> extends Selection {
  /** How many there are: `.count().atLeast(3).within("30d")`. */
  count(): Quantity;
  /** There is at least one. */
  happened(): OpenCondition;
  /** There is none. */
  never(): OpenCondition;
  /** The sum of a number property, exact in decimals: `.sum("amount").atLeast(500).within("90d")`. 0 without occurrences. */
  sum(property: Names<F, NumberField>): Quantity;
  /** The average of a number property over the occurrences that have it; absent without one. */
  avg(property: Names<F, NumberField>): Quantity;
  /** The least value of a number property; absent without one. */
  min(property: Names<F, NumberField>): Quantity;
  /** The greatest value of a number property; absent without one. */
  max(property: Names<F, NumberField>): Quantity;
  /** How many different values a property has had: `.distinct("feature").atLeast(3)`. Dates are told apart by their instants. */
  distinct(property: Names<F, ScalarField>): Quantity;
  /** The value of a property at the latest occurrence that has one, to be asked as the property is asked in `where`. */
  latest<Name extends keyof F & string>(property: Name): Latest<F[Name]>;
}

/** The questions about the selected occurrences of an event with these properties. */
export function occurrences(of: EventSelector, properties: Record<string, Field | null>): Occurrences {
  const owner = `the count of ${JSON.stringify(of.event)}`;
  const aggregate = (name: NumberAggregate) => (property: string) =>
    quantity({ kind: "aggregate", function: name, of, property });
  return {
    [SELECTOR]: of,
    count: () => quantity({ kind: "count", of }),
    happened: () => openCondition(owner, (scope) => ({ kind: "count", of, ...scope, operator: "gte", value: 1 })),
    never: () => openCondition(owner, (scope) => ({ kind: "count", of, ...scope, operator: "eq", value: 0 })),
    sum: aggregate("sum"),
    avg: aggregate("avg"),
    min: aggregate("min"),
    max: aggregate("max"),
    distinct: (property) => quantity({ kind: "distinct", of, property }),
    // The type of an unknown property does not matter: the validation refuses the name.
    latest: (property) => latest(of, property, properties[property] ?? { type: "number" }) as never,
  };
}
