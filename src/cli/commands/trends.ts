import type { Trends } from "../../http/admin/answers.js";
import { defineCommand, projectOptions } from "../core/command.js";
import { UsageError } from "../core/errors.js";
import type { Out } from "../output/out.js";
import { type Column, table } from "../output/table.js";
import { formatNumber, paragraphs, printable, titleOf } from "../../words/text.js";
import { noteRecompute } from "./overview.js";
import { csvLines } from "../../words/csv.js";

type Series = Trends["series"][number];

export const WHAT = [
  "lifecycle",
  "flows",
  "segments",
  "health",
  "signals",
  "active",
  "operations",
  "deliveries",
] as const satisfies readonly Trends["what"][];
export const TREND_PERIODS = ["day", "week", "month"] as const satisfies readonly Trends["every"][];
/** Charts that fit a screen; the table has all series. */
const CHARTS_MAX = 4;

export default defineCommand({
  args: { what: { describe: "What to show; lifecycle unless given", optional: true, choices: WHAT } },
  options: {
    ...projectOptions,
    from: { type: "text", describe: "The first day, as 2026-03-01; 30 days, 12 weeks or 12 months ago unless given" },
    to: { type: "text", describe: "The last day; today unless given" },
    every: {
      type: "text",
      choices: TREND_PERIODS,
      describe: "How long a period is: day, week or month; a day unless given",
    },
    csv: { type: "flag", describe: "Print all figures as CSV, a line for each period" },
  },
  examples: [
    ["svc trends", "How many customers were in each lifecycle state, day by day"],
    ["svc trends segments --every week --from 2026-01-01", "How segments grew, who entered and who left"],
    ["svc trends active --every month --csv > active.csv", "Customers with an event, month by month, as a file"],
  ],
  async handler({ api, out, settings }, { what = "lifecycle", from, to, every = "day", csv }) {
    if (csv && out.json) throw new UsageError("--csv and --json were given", "give one of them");
    const query = { what, every, from, to };
    const answer = await api.get<Trends>(["trends"], ["periods", "series"], query);
    const { periods, series, timeZone, complete, recomputedAt } = answer.data;
    // Also noted with CSV, which is likely to be kept; JSON has members for it.
    if (!complete && !out.json) out.note("Earlier data is still being counted; ask again in some minutes.");
    if (recomputedAt !== undefined && !out.json)
      noteRecompute(out, recomputedAt, "one record of each customer's health");
    if (csv) {
      out.print(csvOf(answer.data));
      return;
    }
    const charts = await Promise.all(
      series.slice(0, CHARTS_MAX).map(async (one) => {
        const drawn = await lineChart(out, periods, one.values);
        return drawn === "" ? "" : `${out.style.bold(printable(nameOf(one)))}\n${drawn}`;
      }),
    );
    const columns = [
      { title: titleOf(what), value: nameOf, kept: true },
      { title: "First", value: ({ values }) => figure(values[0]), align: "right" },
      { title: "Last", value: ({ values }) => figure(values.at(-1)), align: "right" },
      { title: "Lowest", value: ({ values }) => figure(extreme(values, Math.min)), align: "right", optional: true },
      { title: "Highest", value: ({ values }) => figure(extreme(values, Math.max)), align: "right", optional: true },
    ] satisfies Column<Series>[];
    out.result(answer, () =>
      paragraphs([
        `${out.style.bold(titleOf(what))} in ${settings.environment} by ${every}, ${periods[0]!} to ${periods.at(-1)!} (${timeZone})`,
        ...(series.length === 0 ? ["Nothing was counted in this time."] : [...charts, table(out, columns, series)]),
      ]),
    );
    if (series.length > CHARTS_MAX && !out.json)
      out.note(`The table has ${series.length - CHARTS_MAX} more. For all figures by period: add --csv`);
  },
});

/** A series' name: what it counts and for what, such as `power_users members` or `new → active`. */
function nameOf({ metric, state, from, to, segment, signal, band, webhookId }: Series): string {
  if (to !== undefined) return `${from ?? "(first)"} → ${to}`;
  const of = state ?? segment ?? signal ?? band ?? webhookId;
  if (of === undefined) return metric.replaceAll(/[A-Z]/g, (capital) => ` ${capital.toLowerCase()}`);
  return metric === "customers" ? of : `${of} ${metric}`;
}

function figure(value: number | null | undefined): string {
  return value === null || value === undefined ? "none" : formatNumber(value);
}

function extreme(values: Series["values"], of: (...values: number[]) => number): number | null {
  const known = values.filter((value) => value !== null);
  return known.length === 0 ? null : of(...known);
}

const CHART_ROWS = 7;
const CHART_COLUMNS_MAX = 100;
/** Columns that the axis and its labels take beside the plot. */
const MARGIN = 12;

/**
 * A line over time, with the first, the middle and the last label below it. Empty if there are fewer than two values to join.
 *
 * @param values one per label; null for a missing value
 */
async function lineChart(out: Out, labels: readonly string[], values: readonly (number | null)[]): Promise<string> {
  const points = values.flatMap((value, index): [number, number][] => (value === null ? [] : [[index, value]]));
  if (points.length < 2) return "";
  // Imported here: help texts must not wait for it.
  const { plot } = await import("simple-ascii-chart");
  const last = labels.length - 1;
  const [lowest, highest] = [Math.min(...points.map(([, y]) => y)), Math.max(...points.map(([, y]) => y))];
  const drawn = plot(points, {
    width: Math.max(Math.min(out.columns, CHART_COLUMNS_MAX) - MARGIN, 2 * labels[0]!.length),
    height: CHART_ROWS,
    // A level line needs a range to be drawn in.
    ...(lowest === highest ? { yRange: [lowest - 1, highest + 1] as [number, number] } : {}),
    customXAxisTicks: last < 4 ? [0, last] : [0, Math.round(last / 2), last],
    formatter: (value, { axis }) => (axis === "x" ? (labels[value] ?? "") : Math.round(value * 100) / 100),
  });
  return drawn
    .split("\n")
    .map((line) => line.trimEnd())
    .filter((line) => line !== "")
    .join("\n");
}

/** A line for each period, a column for each series. */
function csvOf({ every, periods, series }: Trends): string {
  const lines = [
    [every, ...series.map(nameOf)],
    ...periods.map((period, index) => [period, ...series.map(({ values }) => values[index] ?? null)]),
  ];
  return csvLines(lines);
}
