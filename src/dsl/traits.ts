import type { Field } from "../model/snapshot/types.js";
import { type Condition, condition, type Duration, not } from "./condition.js";
import { nodesOf } from "./event.js";
import type { AnyField, DateField, Fields, NumberField, StringField } from "./field.js";
import { type Operand, operand } from "./operand.js";
import type { Score } from "./health.js";
import { type RecoveryValues, strictProxy } from "./mistakes.js";
import { type NODE, type Part, part, SCORE, TRAIT, withSourceLocation } from "./part.js";
import { type Arithmetic, type Measure, measured } from "./quantity.js";

/** The questions about a trait: those of a property of its type, and those that only make sense for a current value. */
export type TraitOperand<F extends AnyField> = Operand<F, Condition> & Present<F> & Trait<F>;

/** A trait of any type, as `display` accepts it. */
export interface Trait<F extends AnyField = AnyField> {
  readonly [TRAIT]: { name: string; type: F[typeof NODE]["type"] };
}

type Present<F extends AnyField> =
  F extends StringField<infer Value>
    ? MappedTrait<Value>
    : F extends NumberField
      ? Measure & Arithmetic
      : F extends DateField
        ? DatedTrait
        : unknown;

/** A text trait can score a health component by its value. */
export interface MappedTrait<Value extends string> {
  /** The score, 0 to 100, of each value: `customer.plan.map({ free: 30, pro: 70 })`. Every choice needs a score; an absent trait, or a text
   * that is not listed, scores 0. */
  map(scores: { readonly [Name in Value]: number }): Score;
}

/** A date trait can be compared with the current time. */
export interface DatedTrait {
  /** Whether the date is at most this far in the future: true from that long before the date until the date. */
  within(duration: Duration): Condition;
  /** Whether the date has passed, or passed at least this long ago: `customer.trialEndsOn.passed("3d")`. */
  passed(by?: Duration): Condition;
}

/** The traits of a customer; each can be used in conditions, as in `customer.plan.is("pro")`. */
export type TraitsModel<F extends Fields = Fields> = { readonly [Name in keyof F]: TraitOperand<F[Name]> } & AnyTraits;

/** Any set of traits. */
export type AnyTraits = Part<"traits", Record<string, Field>>;

/** Declares the traits of a customer, which identify operations set. A trait may always be absent. */
export function traits<const F extends Fields>(fields: F): TraitsModel<F> {
  const nodes = withoutOptional(nodesOf(fields));
  const numeric = Object.entries<Field | null>(nodes).find(([, field]) => field?.type === "number")?.[0];
  const standIns: RecoveryValues = { measure: numeric === undefined ? undefined : { kind: "trait", trait: numeric } };
  const model: Record<string | symbol, unknown> = Object.create(null) as Record<string | symbol, unknown>;
  for (const [trait, field] of Object.entries<Field | null>(nodes)) {
    if (field) model[trait] = traitOperand(trait, field, standIns);
  }
  Object.assign(
    model,
    part("traits", () => nodes, ""),
  );
  return strictProxy(model, { code: "UNKNOWN_TRAIT", member: "trait", standIns }) as TraitsModel<F>;
}

function traitOperand(trait: string, field: Field, standIns: RecoveryValues): object {
  const exists = () => condition({ kind: "traitExists", trait });
  const questions = operand(field, {
    compare: (operator, value) => condition({ kind: "trait", trait, operator, value }),
    exists,
    missing: () => not(exists()),
  });
  return strictProxy(
    {
      ...questions,
      ...presentOf(trait, field),
      [TRAIT]: { name: trait, type: field.type } satisfies Trait[typeof TRAIT],
    },
    { owner: `the trait ${JSON.stringify(trait)} (${field.type})`, standIns },
  );
}

function presentOf(trait: string, field: Field): object {
  switch (field.type) {
    case "string":
      return {
        map: (values: Record<string, number>) => ({ [SCORE]: withSourceLocation({ kind: "map", trait, values }) }),
      };
    case "number":
      return measured({ kind: "trait", trait });
    case "date":
      return {
        within: (duration: Duration) => condition({ kind: "traitDateWithin", trait, within: duration }),
        passed: (by?: Duration) => condition({ kind: "traitDatePassed", trait, ...(by === undefined ? {} : { by }) }),
      };
    default:
      return {};
  }
}

/** Removes `optional`, which has no meaning for a trait, so that equal models have equal snapshots. */
function withoutOptional(nodes: Record<string, Field>): Record<string, Field> {
  return Object.fromEntries(
    Object.entries<Field | null>(nodes).map(([name, field]) => {
      if (!field?.optional) return [name, field];
      const { optional: _, ...required } = field;
      return [name, required];
    }),
  ) as Record<string, Field>;
}
