import { digest } from "../../model/snapshot/canonical.js";
import type { Health, Score } from "../../model/snapshot/types.js";
import { measureText } from "../../model/snapshot/words.js";
import { HEALTH_ITEM, type Reading, shownMeasure } from "../compile-context.js";
import type { ConditionCompiler } from "../conditions/conditions.js";
import { earliest, NEVER } from "../conditions/leaf.js";
import { shown } from "../conditions/phrases.js";
import { memberReader } from "../json.js";
import { compileMeasure } from "../measures/measures.js";
import type { DerivedPart, NextChange, OpenCustomer } from "../open-customer.js";
import type { HealthScore, Json } from "../state/types.js";

interface CompiledScore {
  /** 0 to 100, not rounded; 0 where what is measured is absent. */
  value: (customer: OpenCustomer) => number;
  nextChange: NextChange;
  /** What is measured, and how much it is. */
  explain: (customer: OpenCustomer) => { text: string; actual: Json };
}

function compileScore(score: Score, compiler: ConditionCompiler): CompiledScore {
  if (score.kind === "map") {
    const { trait, values } = score;
    const read = memberReader(trait);
    const scores = new Map<Json | undefined, number>(Object.entries(values));
    return {
      value: (customer) => scores.get(read(customer.traits)) ?? 0,
      nextChange: NEVER,
      explain: (customer) => ({ text: trait, actual: shown(read(customer.traits)) }),
    };
  }
  const reading = readingOf(score);
  const measure = compileMeasure(score.of, reading, compiler.context(score.of));
  return {
    value: (customer) => reading.of(measure.value(customer)),
    nextChange: measure.nextChange ?? NEVER,
    explain: (customer) => ({ text: measureText(score.of), actual: shownMeasure(measure, customer) }),
  };
}

function readingOf(score: Exclude<Score, { kind: "map" }>): Reading<number> {
  if (score.kind === "scale") {
    const { from, to } = score;
    return {
      of: (value) => (value === undefined ? 0 : Math.min(100, Math.max(0, ((value - from) / (to - from)) * 100))),
      limits: [from, to],
    };
  }
  const { steps, otherwise } = score;
  return {
    of(value) {
      if (value === undefined) return 0;
      for (const [limit, points] of steps) if (value <= limit) return points;
      return otherwise;
    },
    limits: steps.map(([limit]) => limit),
  };
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
  const components = health.components.map(({ id, weight, score }) => {
    return { id, weight, score: compileScore(score, compiler) };
  });
  const changesAt = earliest(components.map(({ score }) => score));

  return {
    name: HEALTH_ITEM,
    reads: compiler.reads,
    run(customer) {
      customer.healthIsStale = !isRead && !customer.scoresHealth;
      if (customer.healthIsStale) {
        if (customer.healthChangesAt > customer.clock) {
          // Not by time alone either: a timer may have moved what a component counts from.
          const differs = customer.health !== null && !isEqual(customer.health, scoreOf(components, health, customer));
          customer.healthChangesAt = differs ? customer.clock : changesAt(customer);
        }
        return false;
      }
      const changed = setHealth(customer, scoreOf(components, health, customer));
      customer.healthChangesAt = isRead ? Infinity : changesAt(customer);
      return changed;
    },
    nextChange: isRead ? changesAt : (customer) => refreshDue(customer, customer.healthChangesAt),
    explain: (customer) => ({
      overall: customer.health?.overall ?? null,
      band: customer.health?.band ?? null,
      components: components.map(({ id, weight, score: { value, explain } }) => {
        return { component: id, weight, score: round(value(customer)), measure: explain(customer) };
      }),
    }),
  };
}

/** When health that no condition reads is due: the customer's minute of the day, at or after a change and after the clock. */
export function refreshDue(customer: OpenCustomer, changesAt: number): number {
  if (changesAt === Infinity) return Infinity;
  const from = Math.max(changesAt, customer.clock + 1);
  // Spreads customers over the day, in UTC: the first four bytes of the SHA-256 of the id, modulo the minutes of a day.
  customer.minuteOfDay ??= digest(customer.customerId).readUInt32BE(0) % 1_440;
  const due = Math.floor(from / DAY) * DAY + customer.minuteOfDay * MINUTE;
  return due >= from ? due : due + DAY;
}

function scoreOf(components: readonly CompiledComponent[], { bands }: Health, customer: OpenCustomer): HealthScore {
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

function setHealth(customer: OpenCustomer, health: HealthScore): boolean {
  const before = customer.health;
  if (before !== null && isEqual(before, health)) return false;
  customer.health = health;
  customer.push({ kind: "health", ...health });
  const { overall, band } = health;
  if (before?.band !== band) {
    const metadata = { previous_band: before?.band ?? null, new_band: band, overall };
    customer.emit("health.changed", "health", metadata);
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
