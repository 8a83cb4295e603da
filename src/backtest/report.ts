import type { Snapshot } from "../model/snapshot/types.js";
import { notesOf } from "./notes.js";
import type { BacktestReport, FlagReport, ModelReport, ThresholdReport } from "./report-types.js";
import type { CustomerSamples, BacktestQuestion } from "./samples.js";
import { instantsOf } from "./samples.js";
import { CELLS, type Rate } from "./statistics.js";
import { type Flag, LEAD_STEPS, type ModelFacts, type ScoreTally, Tally } from "./tally.js";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;

/** The kinds of conditions, measures and scores that read a trait. */
const READS_TRAIT = /"kind":"(trait|traitExists|traitDateWithin|traitDatePassed|map)"/;

/** The facts about a model that a report needs. */
export function factsOfModel(
  name: string,
  { lifecycle, journeys, segments, signals, health, rules }: Snapshot,
): ModelFacts {
  return {
    name,
    states: lifecycle?.states.map((state) => state.name) ?? [],
    segments: segments.map(({ id }) => id),
    signals: signals.map(({ id }) => id),
    health: health && {
      bands: health.bands.map(({ id }) => id),
      components: health.components.map(({ id, weight }) => ({ id, weight })),
    },
    terminal: lifecycle?.states.flatMap(({ name, terminal }) => (terminal ? name : [])) ?? [],
    readsTraits: READS_TRAIT.test(JSON.stringify([lifecycle, journeys, segments, signals, health, rules])),
  };
}

/**
 * Computes the report of a backtest in two passes over the customers: the first counts samples, the second compares each with the counts. It
 * keeps only counts and sums, however many customers there are: some 700 KB for each component of a health score, 4 KB for each state, band,
 * segment and signal.
 *
 * @param models the judged model, and the one it is compared with, if any, in the order of `CustomerSamples.said`
 * @param pass iterates over all customers, the same at each call
 */
export async function makeReport(
  question: BacktestQuestion,
  models: readonly ModelFacts[],
  pass: () => AsyncIterable<CustomerSamples> | Iterable<CustomerSamples>,
): Promise<BacktestReport> {
  const { outcome, within, every, from, to, end } = question;
  const tally = new Tally(question, models);
  for await (const customer of pass()) tally.count(customer);
  tally.place();
  for await (const customer of pass()) tally.add(customer);

  const { base, flags, scores, alreadyThere, censored, difference } = tally;
  const instants = instantsOf(question);
  const inTime = instants.filter((at) => at + within <= end).length;
  const used = tally.known.subarray(0, inTime).reduce((sum, known) => sum + known, 0);
  const perWeek = (count: number) => (used === 0 ? 0 : (count * WEEK) / (used * every));
  const figures = {
    outcome: `${outcome.kind}:${outcome.id}`,
    within: durationText(within),
    every: durationText(every),
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
    end: new Date(end).toISOString(),
    instants: { used, empty: inTime - used, censored: instants.length - inTime },
    customers: { looked: base.customers, withOutcome: base.customersWith },
    samples: { used: base.samples, withOutcome: base.withOutcome, alreadyThere, censored },
    baseRate: base.estimate(),
    models: models.map(({ name }, n): ModelReport => {
      const { states, bands, segments, signals } = flags[n]!;
      const reports = (all: ReadonlyMap<string, Flag>) =>
        Array.from(all.values(), (flag) => flagReport(flag, base, within, perWeek));
      return {
        name,
        states: reports(states),
        bands: reports(bands),
        segments: reports(segments),
        signals: reports(signals),
        health: scores[n] ? scoreReport(scores[n], perWeek) : null,
      };
    }),
    difference: difference?.estimate() ?? null,
  };
  return { ...figures, notes: notesOf(outcome, models, tally.inTerminal, figures) };
}

type PerWeek = (count: number) => number;

function flagReport({ id, rate, leads, falseAlarms }: Flag, base: Rate, within: number, perWeek: PerWeek): FlagReport {
  const precision = rate.estimate();
  return {
    id,
    flagged: rate.samples,
    customers: rate.customers,
    caught: rate.customersWith,
    precision,
    recall: share(rate.withOutcome, base.withOutcome),
    lift: precision && base.value ? precision.value / base.value : null,
    medianLeadDays: medianLeadDays(leads, rate.withOutcome, within),
    falseAlarmsPerWeek: perWeek(falseAlarms),
  };
}

/** The median lead time, to the finest power of ten of a day that is at least a step. */
function medianLeadDays(leads: Uint32Array, count: number, within: number): number | null {
  if (count === 0) return null;
  const stepDays = within / LEAD_STEPS / DAY;
  const middle = (nth: number) => {
    let total = 0;
    return (leads.findIndex((here) => (total += here) >= nth) + 0.5) * stepDays;
  };
  const median = (middle(Math.ceil(count / 2)) + middle(Math.floor(count / 2) + 1)) / 2;
  // A lead is at most half a step from the middle of its step, so whole days stay whole; one at the end of its step is rounded up to it.
  const precision = 10 ** Math.max(0, -Math.ceil(Math.log10(stepDays)));
  return Math.round(median * precision + 1e-6) / precision;
}

function scoreReport({ whole, direction, bins, thresholds, components }: ScoreTally, perWeek: PerWeek) {
  const { samplesWith, samplesWithout, with: withs, without } = whole.counts;
  const samples = samplesWith + samplesWithout;
  const thresholdReport = ({ cell, falseAlarms }: (typeof thresholds)[number]): ThresholdReport => {
    const side = direction === "lower" ? ([0, cell + 1] as const) : ([cell, CELLS] as const);
    const hits = sum(withs.subarray(...side));
    const flagged = hits + sum(without.subarray(...side));
    return {
      score: cell / 100,
      flagged: flagged / samples,
      precision: share(hits, flagged),
      recall: share(hits, samplesWith),
      falseAlarmsPerWeek: perWeek(falseAlarms),
    };
  };
  return {
    samples,
    direction,
    auc: whole.estimate(),
    calibration: bins.map(({ from, to, rate }) => ({
      from: from / 100,
      to: to / 100,
      samples: rate.samples,
      rate: rate.estimate()!,
    })),
    thresholds: samples === 0 ? [] : thresholds.map(thresholdReport),
    components: components.map(({ id, weight, alone, without: others, gain }) => ({
      id,
      weight,
      alone: alone.estimate(),
      without: others.estimate(),
      gain: gain.estimate(),
    })),
  };
}

function share(part: number, whole: number): number | null {
  return whole === 0 ? null : part / whole;
}

function sum(counts: Uint32Array): number {
  return counts.reduce((total, count) => total + count, 0);
}

function durationText(length: number): string {
  if (length % DAY === 0) return `${length / DAY}d`;
  return length % HOUR === 0 ? `${length / HOUR}h` : `${length / 60_000}m`;
}
