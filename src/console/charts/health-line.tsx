import { scaleLinear, scaleUtc } from "d3-scale";
import { curveStepAfter, line } from "d3-shape";
import type { HealthScoreChange } from "../../http/admin/answers.js";
import type { HealthBand } from "../../model/snapshot/types.js";
import { formatNumber } from "../../words/text.js";
import { usePresentation } from "../presentation.js";
import { At, Text } from "../parts.js";
import { Table } from "../tables.js";
import { shortened, tickFormat } from "./axis.js";

const WIDTH = 800;
const HEIGHT = 220;
const LEFT = 100;
const RIGHT = 12;
const TOP = 12;
const BOTTOM = 28;

/** A health score over time, with the limits of its bands, and its changes as a table. @param scores newest first */
export function HealthLine(props: {
  scores: readonly HealthScoreChange[];
  bands: readonly HealthBand[];
  isWhole: boolean;
}) {
  const { scores, bands, isWhole } = props;
  const { now, timeZone } = usePresentation();
  const points = scores.toReversed().map(({ at, overall }) => ({ at: new Date(at), overall }));
  const last = points.at(-1)!;
  const end = Math.max(now, last.at.getTime());
  const x = scaleUtc([points[0]!.at, new Date(end)], [LEFT, WIDTH - RIGHT]);
  const y = scaleLinear([0, 100], [HEIGHT - BOTTOM, TOP]);
  const path = line<(typeof points)[number]>(
    ({ at }) => x(at),
    ({ overall }) => y(overall ?? 0),
  )
    .defined(({ overall }) => overall !== null)
    .curve(curveStepAfter)([...points, { at: new Date(end), overall: last.overall }]);
  const format = tickFormat(end - points[0]!.at.getTime(), timeZone);
  return (
    <figure>
      <svg class="chart" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-labelledby="health-line">
        <title id="health-line">
          Health over time, now {last.overall === null ? "none" : `${formatNumber(last.overall)}, ${scores[0]!.band}`}
        </title>
        {bands.map(({ id, from }) => (
          <g key={id}>
            <line class="axis" x1={LEFT} x2={WIDTH - RIGHT} y1={y(from)} y2={y(from)} />
            <text x={LEFT - 8} y={y(from) - 3} text-anchor="end">
              {shortened(id, 12)}
            </text>
          </g>
        ))}
        {x.ticks(6).map((tick) => (
          <text x={x(tick)} y={HEIGHT - 8} text-anchor="middle" key={tick.getTime()}>
            {format.format(tick)}
          </text>
        ))}
        <path class="curve" d={path ?? ""} />
        {last.overall === null ? null : <circle class="dot" cx={x(new Date(end))} cy={y(last.overall)} r={3.5} />}
      </svg>
      <details>
        <summary>{isWhole ? "Changes of the score" : `The last ${scores.length} changes of the score`}</summary>
        <Table
          name="Changes of the score"
          rows={scores}
          columns={[
            ["When", ({ at }) => <At iso={at} />],
            ["Score", ({ overall }) => (overall === null ? "none" : formatNumber(overall)), "number"],
            ["Band", ({ band }) => <Text>{band ?? ""}</Text>],
          ]}
        />
      </details>
    </figure>
  );
}
