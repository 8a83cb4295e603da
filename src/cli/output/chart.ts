import type { Out } from "./out.js";

const ROWS = 7;
const WIDEST = 100;
/** Columns that the axis and its labels take beside the plot. */
const MARGIN = 12;

/**
 * A line over time, with the first, the middle and the last label below it. Empty if there are fewer than two values to join.
 *
 * @param values one per label; null for a missing value
 */
export async function lineChart(
  out: Out,
  labels: readonly string[],
  values: readonly (number | null)[],
): Promise<string> {
  const points = values.flatMap((value, index): [number, number][] => (value === null ? [] : [[index, value]]));
  if (points.length < 2) return "";
  // Imported here: help texts must not wait for it.
  const { plot } = await import("simple-ascii-chart");
  const last = labels.length - 1;
  const [lowest, highest] = [Math.min(...points.map(([, y]) => y)), Math.max(...points.map(([, y]) => y))];
  const drawn = plot(points, {
    width: Math.max(Math.min(out.columns, WIDEST) - MARGIN, 2 * labels[0]!.length),
    height: ROWS,
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

const BAR = 30;

/** A share from 0 to 1 as a bar; a share above 0 always shows. */
export function bar(share: number): string {
  return "█".repeat(share > 0 ? Math.max(1, Math.round(share * BAR)) : 0);
}
