import type { Condition } from "../../model/snapshot/types.js";
import { conditionText } from "../../model/snapshot/words.js";
import type { OperandValue } from "../compile-context.js";
import type { NextChange, OpenCustomer } from "../open-customer.js";
import type { Json } from "../state/types.js";

/** Why a condition holds or not at the customer's clock. It is a tree with the structure of the condition. */
export type Explanation = {
  kind: string;
  /** The condition as a sentence: `count of "login" within 30d at least 3`. */
  text: string;
  /** What the condition asks for: a value, a list of values, or `at least 3`. */
  expected: Json;
  /** The actual value; null if there is none; `3 or more` if memory is bounded. */
  actual: Json;
  met: boolean;
  /** What is missing: a number to be added to the actual one, or what has to become true; null if the condition is met. */
  missing: Json;
  /** When it flips by time alone, if no operation comes and nothing else changes; null for never. ISO 8601. */
  flipsAt: string | null;
  /** What a ratio or a difference is computed from. */
  operands?: OperandValue[];
  conditions?: Explanation[];
};

export type ConditionTest = (customer: OpenCustomer) => boolean;

export interface CompiledCondition {
  /** Whether the condition holds at the customer's clock. */
  test: ConditionTest;
  /** When it changes by time alone; `NEVER` if it does not. */
  nextChange: NextChange;
  /** Explains why it holds or not. Changes nothing. */
  explain(customer: OpenCustomer): Explanation;
}

/** A condition without parts, and the content of its explanation. */
export interface Leaf {
  expected: Json;
  test: ConditionTest;
  nextChange?: NextChange | undefined;
  actual(customer: OpenCustomer): Json;
  /** What it is computed from, if it is computed from other numbers. */
  operands?: ((customer: OpenCustomer) => OperandValue[] | undefined) | undefined;
  /** What is missing if the condition is not met; `expected` by default. */
  missing?(customer: OpenCustomer): Json;
}

/** How many instants of change an explanation tries to find when a condition of several parts flips. */
const STEPS_MAX = 500;

/** Adds the explanation to a leaf. */
export function compileLeaf(condition: Condition, leaf: Leaf): CompiledCondition {
  const { kind } = condition;
  const text = conditionText(condition);
  const { expected, test, nextChange = NEVER } = leaf;
  return {
    test,
    nextChange,
    explain(customer) {
      const met = test(customer);
      const operands = leaf.operands?.(customer);
      return {
        kind,
        text,
        expected,
        actual: leaf.actual(customer),
        ...(operands && { operands }),
        met,
        missing: met ? null : leaf.missing === undefined ? expected : leaf.missing(customer),
        flipsAt: isoTime(customer.explainsFlips ? nextChange(customer) : Infinity),
      };
    },
  };
}

/** All or any of some conditions. */
export function compileGroup(kind: "all" | "any", parts: readonly CompiledCondition[]): CompiledCondition {
  const tests = parts.map((part) => part.test);
  const test = testOfGroup(kind, tests);
  const nextChange = earliest(parts);
  return {
    test,
    nextChange,
    explain(customer) {
      const conditions = parts.map((part) => part.explain(customer));
      const met = test(customer);
      const unmet = conditions.filter((one) => !one.met);
      return {
        kind,
        text: conditions
          .map((one) => (one.conditions === undefined ? one.text : `(${one.text})`))
          .join(kind === "all" ? " and " : " or "),
        expected: kind === "all" ? conditions.length : Math.min(1, conditions.length),
        actual: conditions.length - unmet.length,
        met,
        missing: met ? null : unmet.map(({ text }) => text),
        flipsAt: isoTime(
          customer.explainsFlips && nextChange !== NEVER ? findFlip(customer, test, nextChange) : Infinity,
        ),
        conditions,
      };
    },
  };
}

export function compileNot(part: CompiledCondition): CompiledCondition {
  return {
    test: (customer) => !part.test(customer),
    nextChange: part.nextChange,
    explain(customer) {
      const inner = part.explain(customer);
      const text = `not (${inner.text})`;
      return {
        kind: "not",
        text,
        expected: false,
        actual: inner.met,
        met: !inner.met,
        missing: inner.met ? text : null,
        flipsAt: inner.flipsAt,
        conditions: [inner],
      };
    },
  };
}

function testOfGroup(kind: "all" | "any", tests: readonly ConditionTest[]): ConditionTest {
  if (tests.length === 2) {
    const [first, second] = tests as [ConditionTest, ConditionTest];
    return kind === "all"
      ? (customer) => first(customer) && second(customer)
      : (customer) => first(customer) || second(customer);
  }
  return kind === "all"
    ? (customer) => tests.every((test) => test(customer))
    : (customer) => tests.some((test) => test(customer));
}

/**
 * When a condition flips by time alone, or Infinity: it is tested at each instant at which one of its parts changes. The clock and the
 * aggregates are restored afterwards.
 */
function findFlip(customer: OpenCustomer, test: ConditionTest, nextChange: NextChange): number {
  const { clock, aggregates, searches } = customer;
  const originals = aggregates.slice();
  customer.searches = [];
  originals.forEach((aggregate, index) => (aggregates[index] = aggregate.clone?.() ?? aggregate));
  try {
    const present = test(customer);
    for (let step = 0; step < STEPS_MAX; step++) {
      const next = nextChange(customer);
      if (next === Infinity) break;
      customer.clock = next;
      if (test(customer) !== present) return next;
    }
    return Infinity;
  } finally {
    customer.clock = clock;
    customer.searches = searches;
    originals.forEach((aggregate, index) => (aggregates[index] = aggregate));
  }
}

function isoTime(instant: number): string | null {
  return Number.isFinite(instant) ? new Date(instant).toISOString() : null;
}

/** No change by time alone. */
export const NEVER: NextChange = () => Infinity;

/** The earliest instant at which one of some parts changes by time alone. */
export function earliest(parts: readonly { nextChange: NextChange }[]): NextChange {
  const changes = parts.map(({ nextChange }) => nextChange).filter((change) => change !== NEVER);
  if (changes.length < 2) return changes[0] ?? NEVER;
  return (customer) => {
    let next = Infinity;
    for (const change of changes) next = Math.min(next, change(customer));
    return next;
  };
}
