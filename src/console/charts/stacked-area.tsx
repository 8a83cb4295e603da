import { scaleLinear, scaleUtc } from "d3-scale";
import { area, type SeriesPoint, stack } from "d3-shape";
import type { ComponentChildren } from "preact";
import { printable } from "../../words/text.js";
import { MaybeLink } from "../parts.js";
import { dayFormat, Levels } from "./axis.js";
import { Figures, type Series } from "./figures.js";

/** A part of the whole, with a value for each period. */
interface Layer extends Series {
  href: string | null;
  values: readonly number[];
}

const WIDTH = 800;
const HEIGHT = 260;
const LEFT = 64;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 28;
const TICKS = 7;

/** Parts of a whole over time as a stacked area, the first at the bottom, with the figures as a table. @param periods their first days, at least two */
export function StackedArea(props: { title: string; periods: readonly string[]; layers: readonly Layer[] }) {
  const { title, periods, layers } = props;
  const days = periods.map((day) => new Date(day));
  const [first, last] = [days[0]!, days.at(-1)!];
  const stacked = stack<undefined, number, number>()
    .keys(layers.keys())
    .value((period, layer) => layers[layer]!.values[period]!)(periods.keys());
  const top = Math.max(...stacked.flatMap((layer) => layer.map(([, to]) => to)), 1);
  const x = scaleUtc([first, last], [LEFT, WIDTH - RIGHT]);
  const y = scaleLinear([0, top], [HEIGHT - BOTTOM, TOP]).nice(4);
  const shape = area<SeriesPoint<number>>()
    .x(({ data }) => x(days[data]!))
    .y0(([from]) => y(from))
    .y1(([, to]) => y(to));
  const format = dayFormat(last.getTime() - first.getTime());
  const every = Math.ceil(days.length / TICKS);
  return (
    <figure>
      <div class="scroll" role="region" aria-label={`${title}: chart`} tabIndex={0}>
        <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-labelledby="stacked-area">
          <title id="stacked-area">{title}</title>
          <Hatchings />
          <Levels y={y} ticks={y.ticks(4).filter(Number.isInteger)} left={LEFT} right={WIDTH - RIGHT} />
          {stacked.map((layer) => (
            <g key={layer.key}>
              <title>{printable(layers[layer.key]!.name)}</title>
              <Coloured place={layer.key} draw={(colour) => <path {...colour} d={shape(layer) ?? ""} />} />
            </g>
          ))}
          {days.map((day, index) =>
            index % every === 0 ? (
              <text x={x(day)} y={HEIGHT - 8} text-anchor={index === 0 ? "start" : "middle"} key={index}>
                {format.format(day)}
              </text>
            ) : null,
          )}
        </svg>
      </div>
      <ul class="legend chart">
        {layers.map(({ name, href }, index) => (
          <li key={name}>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <Coloured place={index} draw={(colour) => <rect {...colour} width="10" height="10" />} />
            </svg>
            <MaybeLink href={href}>
              <bdi>{printable(name)}</bdi>
            </MaybeLink>
          </li>
        ))}
      </ul>
      <Figures name={title} periods={periods} series={layers} />
    </figure>
  );
}

const COLOURS = 8;

/** Patterns drawn over the colours of layers after the eighth. Once per picture; the legend uses them, too. */
function Hatchings() {
  return (
    <defs>
      {[45, -45].map((angle, index) => (
        <pattern
          id={`hatching-${index + 1}`}
          width="6"
          height="6"
          patternUnits="userSpaceOnUse"
          patternTransform={`rotate(${angle})`}
          key={angle}
        >
          <rect class="hatching" width="2" height="6" />
        </pattern>
      ))}
    </defs>
  );
}

/** Draws a layer with the colour of its index: one of eight colours, then the same ones hatched. @param draw returns the shape with these attributes */
function Coloured(props: { place: number; draw: (colour: { class?: string; fill?: string }) => ComponentChildren }) {
  const { place, draw } = props;
  const hatching = Math.floor(place / COLOURS) % 3;
  return (
    <>
      {draw({ class: `c${(place % COLOURS) + 1}` })}
      {hatching === 0 ? null : draw({ fill: `url(#hatching-${hatching})` })}
    </>
  );
}
