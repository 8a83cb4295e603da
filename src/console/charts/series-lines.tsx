import { scaleLinear, scaleUtc } from "d3-scale";
import { area, line } from "d3-shape";
import { Text } from "../parts.js";
import { Figures, type Series } from "./figures.js";
import { Levels, Swatch } from "./axis.js";

const WIDTH = 800;
const HEIGHT = 220;
const LEFT = 52;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 28;

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

interface SeriesLinesProps {
  /** Unique on the page. */
  id: string;
  title: string;
  /** The first day of each period. */
  periods: readonly string[];
  /** At most as many as the style sheet has colours. */
  lines: readonly Series[];
  /** Two series; the area between them is filled. */
  between?: readonly [lower: Series, upper: Series];
  /** The greatest possible value; unless given, the greatest in the series. */
  max?: number;
}

/** Series as lines over time, with the figures as a table. */
export function SeriesLines({ id, title, periods, lines, between, max }: SeriesLinesProps) {
  const all = [...lines, ...(between ?? [])];
  const greatest = max ?? Math.max(1, ...all.flatMap(({ values }) => values.map((value) => value ?? 0)));
  const days = periods.map((period) => new Date(period));
  const x = scaleUtc([days[0]!, days.at(-1)!], [LEFT, WIDTH - RIGHT]);
  const y = scaleLinear([0, greatest], [HEIGHT - BOTTOM, TOP]).nice(4);
  const path = line<number | null>(
    (_, index) => x(days[index]!),
    (value) => y(value ?? 0),
  ).defined((value) => value !== null);
  return (
    <figure>
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-labelledby={id}>
        <title id={id}>{title}</title>
        <Levels y={y} ticks={y.ticks(4).filter(Number.isInteger)} left={LEFT} right={WIDTH - RIGHT} />
        {x.ticks(Math.min(6, periods.length)).map((tick) => (
          <text x={x(tick)} y={HEIGHT - 8} text-anchor="middle" key={tick.getTime()}>
            {day.format(tick)}
          </text>
        ))}
        {between === undefined ? null : (
          <path
            class="between"
            d={
              area<number>(
                (index) => x(days[index]!),
                (index) => y(between[0].values[index] ?? 0),
                (index) => y(between[1].values[index] ?? 0),
              ).defined((index) => between[0].values[index] !== null)([...days.keys()]) ?? ""
            }
          />
        )}
        {lines.map(({ values }, index) => (
          <path class={`curve s${index + 1}`} d={path(values) ?? ""} key={index} />
        ))}
      </svg>
      {all.length < 2 ? null : (
        <ul class="legend">
          {lines.map(({ name }, index) => (
            <li key={name}>
              <Swatch kind={`curve s${index + 1}`} />
              <Text>{name}</Text>
            </li>
          ))}
          {between === undefined ? null : (
            <li>
              <Swatch kind="between" />
              {between[0].name} to {between[1].name}
            </li>
          )}
        </ul>
      )}
      <Figures name={title} periods={periods} series={all} />
    </figure>
  );
}
