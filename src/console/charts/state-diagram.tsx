import { scaleSqrt } from "d3-scale";
import { curveBasis, line } from "d3-shape";
import { formatNumber, plural, printable } from "../../words/text.js";
import { MaybeLink } from "../parts.js";
import { shortened } from "./axis.js";
import { placed, type PlacedEdge, type PlacedNode, type Point } from "./layout.js";

export interface DiagramState {
  name: string;
  customers: number;
  /** To those customers; null where there is no list of them. */
  href: string | null;
}

/** The transitions from one state to another; from null for those that were in none. */
export interface DiagramArrow {
  from: string | null;
  to: string;
  transitions: number;
  href: string;
}

const NAME_MAX = 20;
const CHARACTER_WIDTH = 8;
const STATE = { widthMin: 90, height: 50 };
/** Where customers come from that were in no state. */
const BEGIN = { id: "begin", radius: 5 };

const nameIn = (name: string) => shortened(printable(name), NAME_MAX);
// What states are called cannot be the id of the beginning.
const idOf = (state: string | null) => (state === null ? BEGIN.id : `state ${state}`);

/** States with the customers in them, and arrows for the transitions between them, as wide as there are many. */
export function StateDiagram({ states, arrows }: { states: readonly DiagramState[]; arrows: readonly DiagramArrow[] }) {
  const { width, height, box, arrow: way } = laidOut(states, arrows);
  const most = Math.max(...arrows.map(({ transitions }) => transitions), 1);
  const strokeWidth = scaleSqrt([0, most], [1, 4]);
  const begin = arrows.some(({ from }) => from === null) ? box(BEGIN.id) : null;
  return (
    <div class="scroll" role="region" aria-label="The lifecycle as a diagram" tabIndex={0}>
      <svg class="chart diagram" viewBox={`0 0 ${width} ${height}`} width={width} height={height}>
        <title>The lifecycle: {plural(states.length, "state")} and the transitions between them</title>
        <defs>
          <marker
            id="arrow"
            viewBox="0 0 10 10"
            refX="9"
            refY="5"
            markerWidth="12"
            markerHeight="12"
            markerUnits="userSpaceOnUse"
            orient="auto"
          >
            <path class="head" d="M0 0L10 5L0 10z" />
          </marker>
        </defs>
        {begin === null ? null : <circle class="head" cx={begin.x} cy={begin.y} r={BEGIN.radius} />}
        {arrows.map((arrow) => (
          <Arrow
            arrow={arrow}
            place={way(idOf(arrow.from), idOf(arrow.to))}
            width={strokeWidth(arrow.transitions)}
            key={`${idOf(arrow.from)} ${arrow.to}`}
          />
        ))}
        {states.map((state) => (
          <State state={state} place={box(idOf(state.name))} key={state.name} />
        ))}
      </svg>
    </div>
  );
}

function laidOut(states: readonly DiagramState[], arrows: readonly DiagramArrow[]) {
  const hasBegin = arrows.some(({ from }) => from === null);
  return placed(
    [
      ...(hasBegin ? [{ id: BEGIN.id, width: 2 * BEGIN.radius, height: 2 * BEGIN.radius }] : []),
      ...states.map(({ name }) => {
        const width = Math.max(STATE.widthMin, [...nameIn(name)].length * CHARACTER_WIDTH + 24);
        return { id: idOf(name), width, height: STATE.height };
      }),
    ],
    arrows.map(({ from, to, transitions }) => {
      const width = formatNumber(transitions).length * CHARACTER_WIDTH + 8;
      return { from: idOf(from), to: idOf(to), width, height: 20 };
    }),
  );
}

const curve = line<Point>(
  ({ x }) => x,
  ({ y }) => y,
).curve(curveBasis);

function Arrow({ arrow, place, width }: { arrow: DiagramArrow; place: PlacedEdge; width: number }) {
  const { from, to, transitions, href } = arrow;
  return (
    <g class={transitions === 0 ? "unused" : undefined}>
      <path class="edge" d={curve(place.points) ?? ""} stroke-width={width} marker-end="url(#arrow)" />
      <MaybeLink href={transitions === 0 ? null : href}>
        <title>
          {from === null ? "first in" : `${printable(from)} to`} {printable(to)}: {formatNumber(transitions)}
        </title>
        <text class="halo" x={place.x} y={place.y} text-anchor="middle" dominant-baseline="central">
          {formatNumber(transitions)}
        </text>
      </MaybeLink>
    </g>
  );
}

function State({ state, place }: { state: DiagramState; place: PlacedNode }) {
  const { name, customers, href } = state;
  const { x, y, width, height } = place;
  return (
    <g>
      <MaybeLink href={href}>
        <title>
          {printable(name)}: {plural(customers, "customer")}
        </title>
        <rect class="node" x={x - width / 2} y={y - height / 2} width={width} height={height} rx="8" />
        <text class="strong" x={x} y={y - 7} text-anchor="middle">
          {nameIn(name)}
        </text>
        <text x={x} y={y + 14} text-anchor="middle">
          {formatNumber(customers)}
        </text>
      </MaybeLink>
    </g>
  );
}
