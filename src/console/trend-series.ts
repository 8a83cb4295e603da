import type { Trends, TrendSeries } from "../http/admin/answers.js";

/** The values of one of the series, by what it counts and of what; all 0 where it was left out. */
export function valuesOf({ periods, series }: Trends, wanted: Omit<TrendSeries, "values">): number[] {
  const found = series.find(
    ({ metric, segment, signal, band }) =>
      metric === wanted.metric && segment === wanted.segment && signal === wanted.signal && band === wanted.band,
  );
  return periods.map((_, index) => found?.values[index] ?? 0);
}

/** Those of the present: how many there are now. */
export function nowOf(trends: Trends, wanted: Omit<TrendSeries, "values">): number {
  return valuesOf(trends, wanted).at(-1) ?? 0;
}
