import { scaleBand, scaleLinear } from "d3-scale";
import { stack } from "d3-shape";
import { formatNumber } from "../../words/text.js";
import { type TableColumn, Table } from "../tables.js";
import { Levels } from "./axis.js";

const WIDTH = 800;
const HEIGHT = 180;
const LEFT = 60;
const TOP = 12;
const BOTTOM = 24;

interface Day {
  /** As 2026-03-01. */
  day: string;
  delivered: number;
  failed: number;
}

const KEYS = ["delivered", "failed"] as const;
const COLOURS = { delivered: "c2", failed: "c5" } as const;

const format = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** Outcomes of deliveries by day as stacked columns, with the figures as a table. */
export function DeliveryDays({ days }: { days: readonly Day[] }) {
  const names = days.map(({ day }) => day);
  const most = Math.max(1, ...days.map(({ delivered, failed }) => delivered + failed));
  const x = scaleBand(names, [LEFT, WIDTH]).padding(0.2);
  const y = scaleLinear([0, most], [HEIGHT - BOTTOM, TOP]).nice(4);
  const layers = stack<Day, (typeof KEYS)[number]>().keys(KEYS)(days);
  const every = Math.ceil(days.length / 8);
  const sum = (key: (typeof KEYS)[number]) => days.reduce((all, day) => all + day[key], 0);
  return (
    <figure>
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-labelledby="delivery-days">
        <title id="delivery-days">
          {formatNumber(sum("delivered"))} delivered and {formatNumber(sum("failed"))} failed within {days.length} days
        </title>
        <Levels y={y} ticks={y.ticks(4).filter(Number.isInteger)} left={LEFT} right={WIDTH} />
        {layers.map((layer) =>
          layer.map(([from, to], n) =>
            from === to ? null : (
              <rect
                class={COLOURS[layer.key]}
                x={x(names[n]!)}
                width={x.bandwidth()}
                y={y(to)}
                height={y(from) - y(to)}
                key={`${layer.key} ${names[n]!}`}
              />
            ),
          ),
        )}
        {days.map(({ day }, n) =>
          n % every === 0 ? (
            <text x={x(day)! + x.bandwidth() / 2} y={HEIGHT - 6} text-anchor="middle" key={day}>
              {format.format(new Date(day))}
            </text>
          ) : null,
        )}
      </svg>
      <ul class="legend">
        {KEYS.map((key) => (
          <li key={key}>
            <svg class="chart" viewBox="0 0 1 1" aria-hidden="true">
              <rect class={COLOURS[key]} width="1" height="1" />
            </svg>
            {key} {formatNumber(sum(key))}
          </li>
        ))}
      </ul>
      <details>
        <summary>The figures</summary>
        <Table
          name="Deliveries by day"
          rows={days.toReversed()}
          columns={[
            ["Day", ({ day }) => day],
            ...KEYS.map((key): TableColumn<Day> => [key, (each) => formatNumber(each[key]), "number"]),
          ]}
        />
      </details>
    </figure>
  );
}
