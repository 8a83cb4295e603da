import { digest } from "../snapshot/digest.js";
import type { Health } from "../snapshot/types.js";
import { HEALTH_ITEM, type ConditionCompiler, type NextChange } from "./conditions.js";
import { earliest, type Item } from "./item.js";
import { compileScore, type CompiledScore } from "./scores.js";
import type { HealthScore } from "./types.js";
import type { Working } from "./working.js";

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
export function compileHealthItem(health: Health, isRead: boolean, compiler: ConditionCompiler): Item {
  const changes: NextChange[] = [];
  const components = health.components.map(({ id, weight, score }) => ({
    id,
    weight,
    score: compileScore(score, compiler, changes),
  }));
  const changesAt = earliest(changes);

  const score = (customer: Working): HealthScore => scoreOf(components, health, customer);
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
export function refreshDue(customer: Working, changesAt: number): number {
  if (changesAt === Infinity) return Infinity;
  const from = Math.max(changesAt, customer.clock + 1);
  const offset = minuteOfDay(customer) * MINUTE;
  const due = Math.floor(from / DAY) * DAY + offset;
  return due >= from ? due : due + DAY;
}

/** Spreads customers over the day, in UTC: the first four bytes of the SHA-256 of the id, modulo the minutes of a day. */
function minuteOfDay(customer: Working): number {
  customer.minuteOfDay ??= digest(customer.customerId).readUInt32BE(0) % 1_440;
  return customer.minuteOfDay;
}

function scoreOf(components: readonly CompiledComponent[], { bands }: Health, customer: Working): HealthScore {
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

function setHealth(customer: Working, health: HealthScore): boolean {
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
