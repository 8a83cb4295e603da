import { type Every, EVERY, firstDayOf, lastDayOf } from "../../console/span.js";
import type { QuestionParams } from "../../console/source.js";
import type { Effect } from "../../engine/index.js";
import type { Trends, TrendSeries } from "../../http/admin/answers.js";
import { ApiError, invalidField } from "../../http/errors.js";
import { calendarDay } from "../../http/request/instants.js";
import { isoTime, meanScore, type PopulationView } from "./population-view.js";

const DAY_MS = 86_400_000;
const PERIODS_MAX = 1100;

/** The available trends. The service has also those of activity, operations and deliveries, which no page of a model shows. */
const WHAT = ["lifecycle", "flows", "segments", "signals", "health"] as const;
type What = (typeof WHAT)[number];

/** A series without its values: the metric, and the part of the model that it is about. */
type Named = Omit<TrendSeries, "values">;

/** The development of customers by periods until now, from the effects of evaluation; days begin at 00:00 UTC. Throws VALIDATION_ERROR. */
export function localTrends(view: PopulationView, of: QuestionParams): Trends {
  const what = oneOf(WHAT, of["what"] ?? "lifecycle", "what");
  const every = oneOf(EVERY, of["every"] ?? "day", "every");
  const periods = periodsOf(of, every, view.now);
  const series = what === "health" ? healthSeries(view, periods, every) : countedSeries(view, what, periods, every);
  return { environment: view.engine.environment, what, every, timeZone: "UTC", complete: true, periods, series };
}

function oneOf<const Value extends string>(values: readonly Value[], text: string, field: string): Value {
  const found = values.find((value) => value === text);
  if (found !== undefined) return found;
  throw invalidField(field, text, `\`${field}\` is none of those.`, `Use one of ${values.join(", ")}.`);
}

const dayOf = (instant: number) => isoTime(instant).slice(0, 10);
const nextDay = (day: string) => dayOf(Date.parse(day) + DAY_MS);

/** The first days of the periods, like those of the service. Throws VALIDATION_ERROR. */
function periodsOf(of: QuestionParams, every: Every, now: number): string[] {
  const today = dayOf(now);
  const [to, from] = [calendarDay(of["to"], "to"), calendarDay(of["from"], "from")];
  const last = to !== undefined && to < today ? to : today;
  const first = from ?? defaultFirst(last, every);
  if (first > last) {
    const message = to !== undefined && to < first ? "The span ends before it begins." : "`from` is in the future.";
    throw new ApiError(400, "VALIDATION_ERROR", { message, field: "from", fix: `Write a day no later than ${last}.` });
  }
  const periods: string[] = [];
  for (let day = firstDayOf(first, every); day <= last; day = nextDay(lastDayOf(day, every))) {
    if (periods.push(day) > PERIODS_MAX) {
      const fix = "Write a later day, or ask by longer periods.";
      throw new ApiError(400, "VALIDATION_ERROR", { message: "The span has too many periods.", field: "from", fix });
    }
  }
  return periods;
}

/** 30 days, 12 weeks or 12 months ago, but not before the year 1. */
function defaultFirst(last: string, every: Every): string {
  const day = new Date(last);
  if (every === "month") day.setUTCMonth(day.getUTCMonth() - 11, 1);
  else day.setUTCDate(day.getUTCDate() - (every === "week" ? 77 : 29));
  return day.getUTCFullYear() < 1 ? "0001-01-01" : dayOf(day.getTime());
}

/** The changes in each period, and the totals at its end, without series that are always 0. */
function countedSeries(
  { population, now }: PopulationView,
  what: What,
  periods: readonly string[],
  every: Every,
): TrendSeries[] {
  const totals = new Map<string, TrendSeries>();
  for (const effect of population.customerIds.flatMap((id) => population.effects(id))) {
    const changes = changesOf(effect, what);
    if (changes.length === 0) continue;
    // The effect of an event some minutes in the future counts as now.
    const period = firstDayOf(dayOf(Math.min(effect.at, now)), every);
    for (const [named, amount] of changes) {
      const key = JSON.stringify(named);
      const { values } = totals.get(key) ?? { values: periods.map(() => 0) };
      totals.set(key, { ...named, values });
      // A change of a total also counts in all later periods.
      const isTotal = named.metric === "customers" || named.metric === "members";
      periods.forEach((each, index) => {
        if (each === period || (isTotal && each > period)) values[index]! += amount;
      });
    }
  }
  return [...totals.values()].filter(({ values }) => values.some((value) => value !== 0));
}

function changesOf(effect: Effect, what: What): [Named, amount: number][] {
  switch (effect.kind) {
    case "transition": {
      const { from, to } = effect;
      if (what === "flows") return [[{ metric: "transitions", from, to }, 1]];
      if (what !== "lifecycle") return [];
      const entered: [Named, number] = [{ metric: "customers", state: to }, 1];
      return from === null ? [entered] : [entered, [{ metric: "customers", state: from }, -1]];
    }
    case "segmentEntered":
      return what === "segments" ? moves({ segment: effect.segment }, "members", 1, "entered") : [];
    case "segmentExited":
      return what === "segments" ? moves({ segment: effect.segment }, "members", -1, "exited") : [];
    case "signalRaised":
      return what === "signals" ? moves({ signal: effect.signal }, "customers", 1, "raised") : [];
    case "signalCleared":
      return what === "signals" ? moves({ signal: effect.signal }, "customers", -1, "cleared") : [];
    default:
      return [];
  }
}

/** The changes for a move: one more or less in a total, and one more move. */
const moves = (of: Omit<Named, "metric">, total: string, amount: 1 | -1, move: string): [Named, number][] => [
  [{ metric: total, ...of }, amount],
  [{ metric: move, ...of }, 1],
];

/** By the end of each period: the number of customers in each band, and the number, mean and quartiles of all scores. */
function healthSeries({ population, now }: PopulationView, periods: readonly string[], every: Every): TrendSeries[] {
  const bands = new Map<string, TrendSeries>();
  const scores: number[][] = periods.map(() => []);
  const ends = periods.map((first) => Date.parse(nextDay(lastDayOf(first, every))));
  for (const customerId of population.customerIds) {
    const changes = population.effects(customerId).filter((effect) => effect.kind === "health");
    ends.forEach((end, index) => {
      const last = changes.findLast(({ at }) => Math.min(at, now) < end);
      if (last === undefined || last.overall === null || last.band === null) return;
      const { band } = last;
      const { values } = bands.get(band) ?? { values: periods.map(() => 0) };
      bands.set(band, { metric: "customers", band, values });
      values[index]! += 1;
      scores[index]!.push(last.overall);
    });
  }
  return [
    ...bands.values(),
    { metric: "scored", values: scores.map((all) => all.length) },
    { metric: "average", values: scores.map(meanScore) },
    ...scoreQuartiles(scores),
  ];
}

/** Quartiles in whole points: the lowest score that a quarter, half or three quarters of a period's scores do not exceed. */
function scoreQuartiles(scores: readonly number[][]): TrendSeries[] {
  return ["lowerQuartile", "median", "upperQuartile"].map((metric, index) => ({
    metric,
    values: scores.map((all) => {
      const sorted = all.map(Math.round).toSorted((a, b) => a - b);
      return sorted[Math.ceil((sorted.length * (index + 1)) / 4) - 1] ?? null;
    }),
  }));
}
