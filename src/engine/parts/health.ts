import { digest } from "../../model/snapshot/canonical.js";
import type { Health, Score } from "../../model/snapshot/types.js";
import type { ConditionCompiler } from "../conditions/conditions.js";
import { earliest } from "../conditions/leaf.js";
import { shown } from "../conditions/phrases.js";
import { HEALTH_ITEM } from "../compile-context.js";
import type { DerivedPart, EvaluationContext, NextChange } from "../evaluation-context.js";
import { memberReader } from "../json.js";
import type { Reading } from "../measures/measure.js";
import { compileMeasure } from "../measures/measures.js";
import type { HealthScore, Json } from "../state/types.js";

interface CompiledScore {
  /** 0 to 100, not rounded; 0 where what is measured is absent. */
  value: (customer: EvaluationContext) => number;
  /** What is measured, and how much it is. */
  explain: (customer: EvaluationContext) => { text: string; actual: Json };
}

/** A health component's score; its change by time alone is added to `changes`. */
function compileScore(score: Score, compiler: ConditionCompiler, changes: NextChange[]): CompiledScore {
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

const MINUTE = 60_000;
const DAY = 1_440 * MINUTE;

interface CompiledComponent {
  id: string;
  weight: number;
  score: CompiledScore;
}

/**
 * The health score. Where a condition reads it, it is kept up to date at every instant. Otherwise it is scored with each
 * operation, and once more at the customer's minute of the day after a component has changed by time alone.
 */
export function compileHealthItem(health: Health, isRead: boolean, compiler: ConditionCompiler): DerivedPart {
  const changes: NextChange[] = [];
  const components = health.components.map(({ id, weight, score }) => ({
    id,
    weight,
    score: compileScore(score, compiler, changes),
  }));
  const changesAt = earliest(changes);

  const score = (customer: EvaluationContext): HealthScore => scoreOf(components, health, customer);
  return {
    name: HEALTH_ITEM,
    reads: compiler.reads,
    run(customer) {
      customer.healthIsStale = !isRead && !customer.scoresHealth;
      if (customer.healthIsStale) {
        if (customer.healthChangesAt > customer.clock) {
          // Not by time alone either: a timer may have moved what a component counts from.
          const differs = customer.health !== null && !isEqual(customer.health, score(customer));
          customer.healthChangesAt = differs ? customer.clock : changesAt(customer);
        }
        return false;
      }
      const changed = setHealth(customer, score(customer));
      customer.healthChangesAt = isRead ? Infinity : changesAt(customer);
      return changed;
    },
    nextChange: isRead ? changesAt : (customer) => refreshDue(customer, customer.healthChangesAt),
    explain: (customer) => ({
      overall: customer.health?.overall ?? null,
      band: customer.health?.band ?? null,
      components: components.map(({ id, weight, score: { value, explain } }) => ({
        component: id,
        weight,
        score: round(value(customer)),
        measure: { ...explain(customer) },
      })),
    }),
  };
}

/** When health that no condition reads is due: the customer's minute of the day, at or after a change and after the clock. */
export function refreshDue(customer: EvaluationContext, changesAt: number): number {
  if (changesAt === Infinity) return Infinity;
  const from = Math.max(changesAt, customer.clock + 1);
  const offset = minuteOfDay(customer) * MINUTE;
  const due = Math.floor(from / DAY) * DAY + offset;
  return due >= from ? due : due + DAY;
}

/** Spreads customers over the day, in UTC: the first four bytes of the SHA-256 of the id, modulo the minutes of a day. */
function minuteOfDay(customer: EvaluationContext): number {
  customer.minuteOfDay ??= digest(customer.customerId).readUInt32BE(0) % 1_440;
  return customer.minuteOfDay;
}

function scoreOf(
  components: readonly CompiledComponent[],
  { bands }: Health,
  customer: EvaluationContext,
): HealthScore {
  const scores: Record<string, number> = {};
  let sum = 0;
  let weights = 0;
  for (const { id, weight, score } of components) {
    const value = score.value(customer);
    scores[id] = round(value);
    sum += weight * value;
    weights += weight;
  }
  const overall = round(sum / weights);
  return { overall, components: scores, band: bands.find(({ from }) => overall >= from)!.id };
}

function setHealth(customer: EvaluationContext, health: HealthScore): boolean {
  const before = customer.health;
  if (before !== null && isEqual(before, health)) return false;
  customer.health = health;
  customer.push({ kind: "health", ...health });
  if (before?.band !== health.band) {
    customer.emit("health.changed", "health", {
      previous_band: before?.band ?? null,
      new_band: health.band,
      overall: health.overall,
    });
  }
  return true;
}

function isEqual(a: HealthScore, b: HealthScore): boolean {
  if (a.overall !== b.overall || a.band !== b.band) return false;
  const ids = Object.keys(a.components);
  return ids.length === Object.keys(b.components).length && ids.every((id) => a.components[id] === b.components[id]);
}

function round(score: number): number {
  return Math.round(score * 100) / 100;
}
