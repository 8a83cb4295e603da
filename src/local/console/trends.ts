import type { Trends, TrendSeries } from "../../http/admin/answers.js";
import type { Of } from "../../console/source.js";
import type { Stand } from "./stand.js";

const DAY_MS = 86_400_000;

/** What pages ask for besides the lifecycle. */
const WHAT = ["segments", "signals", "health"] as const;

type Named = Omit<TrendSeries, "values">;

/** How segments, signals or health developed by days or weeks until now, of what evaluation did to the customers; days begin at 00:00 UTC. */
export function localTrends({ engine: { environment }, population, now }: Stand, of: Of): Trends {
  const what = WHAT.find((each) => each === of["what"])!;
  const every = of["every"] === "week" ? ("week" as const) : ("day" as const);
  const { from = "" } = of;
  const starts = periodsOf(Date.parse(from), now, every === "week" ? 7 : 1);
  const series = new Map<string, TrendSeries>();
  const add = (named: Named, period: number, amount: number, lasts = false) => {
    const key = JSON.stringify(named);
    const one = series.get(key) ?? { ...named, values: starts.map(() => 0) };
    series.set(key, one);
    const until = lasts ? starts.length : period + 1;
    for (let index = lasts ? Math.max(0, period) : period; index >= 0 && index < until; index++) {
      one.values[index] = (one.values[index] ?? 0) + amount;
    }
  };
  const scores: number[][] = starts.map(() => []);
  for (const customerId of population.customerIds) {
    const effects = population.effects(customerId);
    for (const effect of effects) {
      const period = starts.findLastIndex((start) => start <= effect.at);
      if (what === "segments" && (effect.kind === "segmentEntered" || effect.kind === "segmentExited")) {
        const { segment } = effect;
        const entered = effect.kind === "segmentEntered";
        add({ metric: "members", segment }, period, entered ? 1 : -1, true);
        add({ metric: entered ? "entered" : "exited", segment }, period, 1);
      }
      if (what === "signals" && (effect.kind === "signalRaised" || effect.kind === "signalCleared")) {
        const { signal } = effect;
        const raised = effect.kind === "signalRaised";
        add({ metric: "customers", signal }, period, raised ? 1 : -1, true);
        add({ metric: raised ? "raised" : "cleared", signal }, period, 1);
      }
    }
    if (what !== "health") continue;
    const changes = effects.filter((effect) => effect.kind === "health");
    starts.forEach((_, period) => {
      const end = starts[period + 1] ?? Infinity;
      const last = changes.findLast(({ at }) => at < end);
      if (last === undefined || last.overall === null || last.band === null) return;
      add({ metric: "customers", band: last.band }, period, 1);
      scores[period]!.push(last.overall);
    });
  }
  const periods = starts.map((start) => new Date(start).toISOString().slice(0, 10));
  const about = { environment, what, every, timeZone: "UTC", complete: true };
  return { ...about, periods, series: [...series.values(), ...(what === "health" ? quartilesOf(scores) : [])] };
}

/** When each begins: days, or weeks from Monday. */
function periodsOf(from: number, now: number, days: 1 | 7): number[] {
  const first = days === 1 ? from : from - ((new Date(from).getUTCDay() + 6) % 7) * DAY_MS;
  const starts: number[] = [];
  for (let start = first; start <= now; start += days * DAY_MS) starts.push(start);
  return starts;
}

/** The quartiles of each period in whole points: the least score that a quarter, half and three quarters have at most. */
function quartilesOf(scores: readonly number[][]): TrendSeries[] {
  return ["lowerQuartile", "median", "upperQuartile"].map((metric, index) => ({
    metric,
    values: scores.map((all) => {
      const sorted = all.map(Math.trunc).toSorted((a, b) => a - b);
      return sorted[Math.ceil((sorted.length * (index + 1)) / 4) - 1] ?? null;
    }),
  }));
}
