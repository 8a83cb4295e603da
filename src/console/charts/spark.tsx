import { scaleLinear } from "d3-scale";
import { line } from "d3-shape";
import { formatNumber } from "../../words/text.js";

const WIDTH = 140;
const HEIGHT = 28;
/** For the width of the line. */
const EDGE = 2;

/** A series as a small line in a row of a table, from 0 to its greatest value; its figures stand elsewhere. */
export function Spark({ values }: { values: readonly number[] }) {
  const x = scaleLinear([0, Math.max(1, values.length - 1)], [EDGE, WIDTH - EDGE]);
  const y = scaleLinear([0, Math.max(1, ...values)], [HEIGHT - EDGE, EDGE]);
  const path = line<number>((_, index) => x(index), y)(values);
  return (
    <svg class="chart spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img">
      <title>
        {`from ${formatNumber(values[0] ?? 0)} to ${formatNumber(values.at(-1) ?? 0)}, at most ${formatNumber(Math.max(0, ...values))}`}
      </title>
      <path class="curve" d={path ?? ""} />
    </svg>
  );
}
