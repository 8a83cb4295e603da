import type { ScaleLinear } from "d3-scale";
import { formatNumber } from "../../words/text.js";

const DAY_MS = 86_400_000;

/** The format of ticks on an axis: times below two days, dates below a year, else months. */
export function tickFormat(spanMs: number, timeZone: string): Intl.DateTimeFormat {
  if (spanMs < 2 * DAY_MS) return new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", timeZone });
  return dayFormat(spanMs);
}

/** As `tickFormat`, for ticks that are midnights in UTC: zones to the west would name them by the day, or month, before. */
export function dayFormat(spanMs: number): Intl.DateTimeFormat {
  const timeZone = "UTC";
  if (spanMs < 365 * DAY_MS) return new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone });
  return new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric", timeZone });
}

/** Horizontal lines at these values, each with its label. */
export function Levels(props: {
  y: ScaleLinear<number, number>;
  ticks: readonly number[];
  left: number;
  right: number;
  textOf?: (tick: number) => string;
}) {
  const { y, ticks, left, right, textOf = formatNumber } = props;
  return ticks.map((tick) => (
    <g key={tick}>
      <line class="axis" x1={left} x2={right} y1={y(tick)} y2={y(tick)} />
      <text x={left - 8} y={y(tick) + 4} text-anchor="end">
        {textOf(tick)}
      </text>
    </g>
  ));
}

/** A name cut to at most `charactersMax` characters. */
export function shortened(name: string, charactersMax: number): string {
  const characters = [...name];
  return characters.length > charactersMax ? `${characters.slice(0, charactersMax - 1).join("")}…` : name;
}

/** The sample of a line, or of the area `between` two, in a legend. */
export function Swatch({ kind }: { kind: string }) {
  return (
    <svg class="chart" viewBox="0 0 10 10" aria-hidden="true">
      {kind === "between" ? <rect class={kind} width="10" height="10" /> : <path class={kind} d="M0 5H10" />}
    </svg>
  );
}
