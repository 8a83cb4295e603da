import { type ScaleLinear, scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import type { ComponentChildren } from "preact";
import type { CalibrationBin, ThresholdReport } from "../../backtest/report-types.js";
import { Levels, Swatch } from "./axis.js";

const WIDTH = 800;
const HEIGHT = 240;
const LEFT = 60;
const RIGHT = 16;
const TOP = 12;
const BOTTOM = 46;

const inPercent = (share: number) => `${Number((share * 100).toFixed(1))} %`;

interface RatesProps {
  /** Unique on the page. */
  id: string;
  title: string;
  /** Label of the axis of scores. */
  below: string;
  /** The share of all samples with the outcome: the rate of random guesses. */
  baseRate: number;
  /** The greatest share that is drawn. */
  most: number;
  draw: (x: ScaleLinear<number, number>, y: ScaleLinear<number, number>) => ComponentChildren;
  legend: readonly { kind: string; text: string }[];
  /** The figures as a table. */
  children: ComponentChildren;
}

/** Shares by score, with the base rate as a line across. */
function Rates({ id, title, below, baseRate, most, draw, legend, children }: RatesProps) {
  const x = scaleLinear([0, 100], [LEFT, WIDTH - RIGHT]);
  const y = scaleLinear([0, most], [HEIGHT - BOTTOM, TOP]).nice(4);
  return (
    <figure>
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-labelledby={id}>
        <title id={id}>{title}</title>
        <Levels y={y} ticks={y.ticks(4)} left={LEFT} right={WIDTH - RIGHT} textOf={inPercent} />
        {x.ticks(5).map((tick) => (
          <text x={x(tick)} y={HEIGHT - BOTTOM + 18} text-anchor="middle" key={tick}>
            {tick}
          </text>
        ))}
        <text x={(LEFT + WIDTH - RIGHT) / 2} y={HEIGHT - 8} text-anchor="middle">
          {below}
        </text>
        <line class="chance" x1={LEFT} x2={WIDTH - RIGHT} y1={y(baseRate)} y2={y(baseRate)} />
        {draw(x, y)}
      </svg>
      <ul class="legend">
        {[...legend, { kind: "chance", text: "base rate" }].map(({ kind, text }) => (
          <li key={kind}>
            <Swatch kind={kind} />
            {text}
          </li>
        ))}
      </ul>
      <details>
        <summary>The figures</summary>
        {children}
      </details>
    </figure>
  );
}

interface TradeOffProps {
  id: string;
  thresholds: readonly ThresholdReport[];
  direction: "lower" | "higher";
  baseRate: number;
  children: ComponentChildren;
}

/** Precision and recall of flagging all scores on one side of a threshold, with the figures as a table. */
export function TradeOff({ id, thresholds, direction, baseRate, children }: TradeOffProps) {
  const bound = direction === "lower" ? "at most" : "at least";
  return (
    <Rates
      id={id}
      title={`Precision and recall if scores of ${bound} a threshold are flagged`}
      below={`threshold: scores of ${bound} this are flagged`}
      baseRate={baseRate}
      most={1}
      draw={(x, y) =>
        (["precision", "recall"] as const).map((share, index) => {
          const path = line<ThresholdReport>(
            ({ score }) => x(score),
            (each) => y(each[share] ?? 0),
          ).defined((each) => each[share] !== null);
          return <path class={`curve s${index + 1}`} d={path(thresholds) ?? ""} key={share} />;
        })
      }
      legend={[
        { kind: "curve s1", text: "precision: of those flagged, the share with the outcome" },
        { kind: "curve s2", text: "recall: of those with the outcome, the share that is flagged" },
      ]}
    >
      {children}
    </Rates>
  );
}

interface CalibrationProps {
  id: string;
  bins: readonly CalibrationBin[];
  baseRate: number;
  children: ComponentChildren;
}

/** How often the outcome occurred, by score, with 95 % intervals and the figures as a table. */
export function Calibration({ id, bins, baseRate, children }: CalibrationProps) {
  return (
    <Rates
      id={id}
      title="How often the outcome occurred, by score"
      below="score"
      baseRate={baseRate}
      most={Math.max(baseRate, ...bins.map(({ rate }) => rate.high ?? rate.value), 0.01)}
      draw={(x, y) =>
        bins.map(({ from, to, rate: { value, low, high } }) => {
          const middle = x((from + to) / 2);
          return (
            <g key={from}>
              {low === null || high === null ? null : (
                <line class="curve" x1={middle} x2={middle} y1={y(low)} y2={y(high)} />
              )}
              <line class="curve" x1={x(from)} x2={x(to)} y1={y(value)} y2={y(value)} />
              <circle class="dot" cx={middle} cy={y(value)} r={4} />
            </g>
          );
        })
      }
      legend={[
        { kind: "curve", text: "share with the outcome and its 95 % interval, for about a tenth of the samples each" },
      ]}
    >
      {children}
    </Rates>
  );
}
