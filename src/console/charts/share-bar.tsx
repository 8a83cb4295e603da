import { scaleLinear } from "d3-scale";

const WIDTH = 140;
const HEIGHT = 12;

/** A part of a whole, from 0 to 1: as a bar, and in percent. */
export function ShareBar({ share }: { share: number }) {
  const x = scaleLinear([0, 1], [0, WIDTH]);
  return (
    <span class="share">
      <svg class="chart spark" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true">
        <rect class="node" x={0} y={0} width={WIDTH} height={HEIGHT} />
        <rect class="c1" x={0} y={0} width={x(share)} height={HEIGHT} />
      </svg>{" "}
      {Math.round(share * 100)} %
    </span>
  );
}
