import { dayIn } from "./span.js";
import { queryParam, type Visit } from "./console-page.js";
import { OneOf, ViewForm } from "./forms.js";
import type { Trends, TrendSeries } from "../http/admin/answers.js";

const DAY_MS = 86_400_000;
const CHOICES = [7, 30, 90, 365];
const DAYS = 30;
/** The most daily periods; longer spans are shown in weeks. */
const PERIODS_MAX = 90;

/** The number of days that a page covers: `days` of its query, if it is one of the choices. */
export function daysOf({ query }: Pick<Visit, "query">): number {
  const days = Number(queryParam(query, "days"));
  return CHOICES.includes(days) ? days : DAYS;
}

/** The parameters of a question for trends that cover these days. */
export function trendSpan({ query, presentation }: Pick<Visit, "query" | "presentation">): {
  every: "day" | "week";
  from: string;
} {
  const days = daysOf({ query });
  return { every: days > PERIODS_MAX ? "week" : "day", from: firstDay(days, presentation) };
}

/** The first of `days` days that end today. */
export function firstDay(days: number, { now, timeZone }: Visit["presentation"]): string {
  const today = dayIn(now, timeZone);
  return new Date(Date.parse(today) - (days - 1) * DAY_MS).toISOString().slice(0, 10);
}

/** The form field that chooses the number of days. */
export function SpanField({ days }: { days: number }) {
  const choices = CHOICES.map((choice) => ({ value: String(choice), text: `${choice} days` }));
  return <OneOf label="Over the last" name="days" value={String(days)} choices={choices} />;
}

/** A form that only chooses the number of days. @param hidden the rest of the page's query */
export function DaysForm(props: { path: string; days: number; hidden?: Readonly<Record<string, string>> }) {
  const { path, days, hidden } = props;
  return (
    <ViewForm path={path} hidden={hidden}>
      <SpanField days={days} />
    </ViewForm>
  );
}

/** The values of the series with this metric and subject; all 0 if there is none. */
export function valuesOf({ periods, series }: Trends, wanted: Omit<TrendSeries, "values">): number[] {
  const found = series.find(
    ({ metric, segment, signal, band }) =>
      metric === wanted.metric && segment === wanted.segment && signal === wanted.signal && band === wanted.band,
  );
  return periods.map((_, index) => found?.values[index] ?? 0);
}

/** The last value of that series, which is the present one. */
export function nowOf(trends: Trends, wanted: Omit<TrendSeries, "values">): number {
  return valuesOf(trends, wanted).at(-1) ?? 0;
}

type CountedPart = "segment" | "signal" | "band";

/** The declared parts of a kind, and those of earlier versions in which customers still are: the ones that the metric counts now. */
export function presentParts(trends: Trends, metric: string, kind: CountedPart, declared: readonly string[]): string[] {
  const counted = trends.series.flatMap((series) => (series.metric === metric && series[kind]) || []);
  const left = counted.filter((id) => !declared.includes(id) && nowOf(trends, { metric, [kind]: id }) > 0);
  return [...declared, ...left];
}
