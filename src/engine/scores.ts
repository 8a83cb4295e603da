import type { Score } from "../snapshot/types.js";
import type { ConditionCompiler } from "./conditions.js";
import { memberReader } from "./json.js";
import type { NextChange } from "./conditions.js";
import type { Reading } from "./measure.js";
import { compileMeasure } from "./measures.js";
import { shown } from "./phrases.js";
import type { Json } from "./types.js";
import type { Working } from "./working.js";

export interface CompiledScore {
  /** 0 to 100, not rounded; 0 where what is measured is absent. */
  value: (customer: Working) => number;
  /** What is measured, and how much it is. */
  explain: (customer: Working) => { text: string; actual: Json };
}

/** A health component's score; its change by time alone is added to `changes`. */
export function compileScore(score: Score, compiler: ConditionCompiler, changes: NextChange[]): CompiledScore {
  if (score.kind === "map") return compileMap(score);
  const reading = score.kind === "scale" ? scaleReading(score) : stepsReading(score);
  const measure = compileMeasure(score.of, reading, compiler.context(score.of));
  if (measure.nextChange !== undefined) changes.push(measure.nextChange);
  return {
    value: (customer) => reading.of(measure.value(customer)),
    explain(customer) {
      const value = measure.value(customer);
      const actual = value === undefined ? null : measure.isBounded(customer) ? `${value} or more` : value;
      return { text: measure.text, actual };
    },
  };
}

function compileMap({ trait, values }: Extract<Score, { kind: "map" }>): CompiledScore {
  const read = memberReader(trait);
  const scores = new Map<Json | undefined, number>(Object.entries(values));
  return {
    value: (customer) => scores.get(read(customer.traits)) ?? 0,
    explain: (customer) => ({ text: trait, actual: shown(read(customer.traits)) }),
  };
}

function scaleReading({ from, to }: Extract<Score, { kind: "scale" }>): Reading<number> {
  return {
    of: (value) => (value === undefined ? 0 : clamp(((value - from) / (to - from)) * 100)),
    limits: [from, to],
  };
}

function stepsReading({ steps, otherwise }: Extract<Score, { kind: "steps" }>): Reading<number> {
  return {
    of(value) {
      if (value === undefined) return 0;
      for (const [limit, score] of steps) if (value <= limit) return score;
      return otherwise;
    },
    limits: steps.map(([limit]) => limit),
  };
}

function clamp(score: number): number {
  return Math.min(100, Math.max(0, score));
}
