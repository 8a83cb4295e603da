import { digest } from "../../model/snapshot/canonical.js";
import type { Health, HealthComponent, Score } from "../../model/snapshot/types.js";
import { measureText } from "../../model/snapshot/words.js";
import { HEALTH_ITEM, type OperandValue, type SearchedReading, shownMeasure } from "../compile-context.js";
import type { ConditionCompiler } from "../conditions/conditions.js";
import { earliest, NEVER } from "../conditions/leaf.js";
import { shown } from "../conditions/phrases.js";
import { memberReader } from "../json.js";
import { compileMeasure } from "../measures/calculated.js";
import type { DerivedPart, NextChange, OpenCustomer } from "../open-customer.js";
import type { HealthChange, HealthScore, Json } from "../state/types.js";

interface CompiledScore {
  /** 0 to 100, not rounded; undefined if the component is skipped because its measure is absent. */
  value: (customer: OpenCustomer) => number | undefined;
  nextChange: NextChange;
  /** The measure and its value. */
  explain: (customer: OpenCustomer) => OperandValue;
}

function compileScore({ score, absent = 0 }: HealthComponent, compiler: ConditionCompiler): CompiledScore {
  const scoreIfAbsent = absent === "skip" ? undefined : absent;
  if (score.kind === "map") {
    const { trait, values } = score;
    const read = memberReader(trait);
    const scores = new Map<Json | undefined, number>(Object.entries(values));
    return {
      value(customer) {
        const value = read(customer.traits);
        return value === undefined ? scoreIfAbsent : (scores.get(value) ?? 0);
      },
      nextChange: NEVER,
      explain: (customer) => ({ text: trait, actual: shown(read(customer.traits)) }),
    };
  }
  const reading = readingOf(score, scoreIfAbsent);
  const measure = compileMeasure(score.of, reading, compiler.context(score.of));
  return {
    value: (customer) => reading.of(measure.value(customer)),
    nextChange: measure.nextChange ?? NEVER,
    explain(customer) {
      const operands = measure.operands?.(customer);
      return { text: measureText(score.of), actual: shownMeasure(measure, customer), ...(operands && { operands }) };
    },
  };
}

function readingOf(
  score: Exclude<Score, { kind: "map" }>,
  scoreIfAbsent: number | undefined,
): SearchedReading<number | undefined> {
  if (score.kind === "scale") {
    const { from, to } = score;
    return {
      of: (value) =>
        value === undefined ? scoreIfAbsent : Math.min(100, Math.max(0, ((value - from) / (to - from)) * 100)),
      limits: [from, to],
      isMonotone: true,
      regionOf(value) {
        const [least, greatest] = from < to ? [from, to] : [to, from];
        const blur = (greatest - least) * 2 ** -50;
        if (value <= least) return { low: null, high: { limit: least, isIn: true }, blur };
        return value >= greatest ? { low: { limit: greatest, isIn: true }, high: null, blur } : null;
      },
    };
  }
  const { steps, otherwise } = score;
  const points = [...steps.map(([, one]) => one), otherwise];
  // Steps that go up and down may give the same points again.
  const isMonotone = [1, -1].some((sign) => points.every((one, i) => i === 0 || sign * (one - points[i - 1]!) >= 0));
  return {
    of(value) {
      if (value === undefined) return scoreIfAbsent;
      for (const [limit, points] of steps) if (value <= limit) return points;
      return otherwise;
    },
    limits: steps.map(([limit]) => limit),
    isMonotone,
    regionOf(value) {
      const at = steps.findIndex(([limit]) => value <= limit);
      let [first, last] = at < 0 ? [steps.length, steps.length] : [at, at];
      while (first > 0 && points[first - 1] === points[first]) first--;
      while (last < steps.length && points[last + 1] === points[last]) last++;
      return {
        low: first === 0 ? null : { limit: steps[first - 1]![0], isIn: false },
        high: last === steps.length ? null : { limit: steps[last]![0], isIn: true },
      };
    },
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
 * The health score. If a condition reads it, it is updated at every instant. Otherwise it is scored with each operation, and
 * once more at the customer's minute of the day after a component has changed by time alone.
 */
export function compileHealthItem(health: Health, isRead: boolean, compiler: ConditionCompiler): DerivedPart {
  const components = health.components.map((component) => {
    return { id: component.id, weight: component.weight, score: compileScore(component, compiler) };
  });
  const mayLackScore = health.components.every(({ weight, absent }) => weight === 0 || absent === "skip");
  const changesAt = earliest(components.map(({ score }) => score));

  return {
    name: HEALTH_ITEM,
    reads: compiler.reads,
    run(customer) {
      customer.healthIsStale = !isRead && !customer.scoresHealth;
      if (customer.healthIsStale) {
        if (customer.healthChangesAt > customer.clock) {
          // Compare scores as well: a timer may have moved the boundary that a component counts from.
          const isScored = customer.health !== null || mayLackScore;
          const differs = isScored && !isEqual(customer.health, scoreOf(components, health, customer));
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
      // The clock may be past the last scoring, and other scores would not add up to the overall one.
      components: components.map(({ id, weight, score: { explain } }) => {
        const scores = customer.health?.components ?? {};
        const score = Object.hasOwn(scores, id) ? scores[id]! : null;
        return { component: id, weight, score, measure: explain(customer) };
      }),
    }),
  };
}

/** When health that no condition reads is due: at the customer's minute of the day, at or after a change and after the clock. */
export function refreshDue(customer: OpenCustomer, changesAt: number): number {
  if (changesAt === Infinity) return Infinity;
  const from = Math.max(changesAt, customer.clock + 1);
  // Spreads customers over the day, in UTC: the first four bytes of the SHA-256 of the id, modulo the minutes of a day.
  customer.minuteOfDay ??= digest(customer.customerId).readUInt32BE(0) % 1_440;
  const due = Math.floor(from / DAY) * DAY + customer.minuteOfDay * MINUTE;
  return due >= from ? due : due + DAY;
}

/** The score at the customer's clock; null if no component with a weight above zero is known. */
function scoreOf(components: readonly CompiledComponent[], { bands }: Health, customer: OpenCustomer) {
  const scores: Record<string, number> = {};
  let sum = 0;
  let weights = 0;
  for (const { id, weight, score } of components) {
    const value = score.value(customer);
    if (value === undefined) continue;
    scores[id] = round(value);
    sum += weight * value;
    weights += weight;
  }
  if (weights === 0) return null;
  const overall = round(sum / weights);
  return { overall, components: scores, band: bands.find(({ from }) => overall >= from)!.id };
}

const NO_SCORE: HealthChange = { overall: null, components: {}, band: null };

function setHealth(customer: OpenCustomer, health: HealthScore | null): boolean {
  const before = customer.health;
  if (isEqual(before, health)) return false;
  customer.health = health;
  const { overall, components, band } = health ?? NO_SCORE;
  customer.push({ kind: "health", overall, components, band });
  const previous_band = before?.band ?? null;
  if (previous_band !== band) {
    if (previous_band !== null) customer.noteOccasion("health.exited", previous_band);
    if (band !== null) customer.noteOccasion("health.entered", band);
    const metadata = { previous_band, new_band: band, overall };
    customer.emit("health.changed", "health", metadata);
  }
  return true;
}

function isEqual(a: HealthScore | null, b: HealthScore | null): boolean {
  if (a === null || b === null) return a === b;
  if (a.overall !== b.overall || a.band !== b.band) return false;
  const ids = Object.keys(a.components);
  return ids.length === Object.keys(b.components).length && ids.every((id) => a.components[id] === b.components[id]);
}

/** To two decimals, halves up: what doubles lose on the way, at most some 1e-11 hundredths, must not turn a half into less. */
function round(score: number): number {
  return Math.round(score * 100 + 1e-9) / 100;
}
