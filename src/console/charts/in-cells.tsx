import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import { formatNumber, percent } from "../../words/text.js";

/** Width of pictures in table cells. */
const WIDTH = 140;
const SPARK_HEIGHT = 28;
const BAR_HEIGHT = 12;
/** Margin for the width of the line. */
const EDGE = 2;

/** A series as a small line in a table cell, scaled from 0 to its greatest value. */
export function Spark({ values }: { values: readonly number[] }) {
  const x = scaleLinear([0, Math.max(1, values.length - 1)], [EDGE, WIDTH - EDGE]);
  const y = scaleLinear([0, Math.max(1, ...values)], [SPARK_HEIGHT - EDGE, EDGE]);
  const path = line<number>((_, index) => x(index), y)(values);
  return (
    <svg class="chart spark" viewBox={`0 0 ${WIDTH} ${SPARK_HEIGHT}`} role="img">
      <title>
        {`from ${formatNumber(values[0] ?? 0)} to ${formatNumber(values.at(-1) ?? 0)}, at most ${formatNumber(Math.max(0, ...values))}`}
      </title>
      <path class="curve" d={path ?? ""} />
    </svg>
  );
}

/** A share between 0 and 1 as a bar and in percent. */
export function ShareBar({ share }: { share: number }) {
  const x = scaleLinear([0, 1], [0, WIDTH]);
  return (
    <span class="share">
      <svg class="chart spark" viewBox={`0 0 ${WIDTH} ${BAR_HEIGHT}`} aria-hidden="true">
        <rect class="node" x={0} y={0} width={WIDTH} height={BAR_HEIGHT} />
        <rect class="c1" x={0} y={0} width={x(share)} height={BAR_HEIGHT} />
      </svg>{" "}
      {percent(share)}
    </span>
  );
}
