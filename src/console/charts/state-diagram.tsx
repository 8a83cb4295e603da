import * as dagre from "@dagrejs/dagre";
import { scaleSqrt } from "d3-scale";
import { curveBasis, line } from "d3-shape";
import { formatNumber, plural, printable } from "../../words/text.js";
import { MaybeLink } from "../parts.js";
import { shortened } from "./axis.js";

export interface DiagramState {
  name: string;
  customers: number;
  /** The list of these customers; null if there is none. */
  href: string | null;
}

/** The transitions from one state to another; `from` is null for customers that had no state. */
export interface DiagramArrow {
  from: string | null;
  to: string;
  transitions: number;
  href: string;
}

const NAME_MAX = 20;
const CHARACTER_WIDTH = 8;
const STATE = { widthMin: 90, height: 50 };
/** The dot from which customers come that had no state. */
const BEGIN = { id: "begin", radius: 5 };

const nameIn = (name: string) => shortened(printable(name), NAME_MAX);
// The prefix keeps a state named `begin` apart from BEGIN.
const idOf = (state: string | null) => (state === null ? BEGIN.id : `state ${state}`);

/** States with their numbers of customers, and arrows for transitions, wider for more of them. */
export function StateDiagram({ states, arrows }: { states: readonly DiagramState[]; arrows: readonly DiagramArrow[] }) {
  const graph = laidOut(states, arrows);
  const { width, height } = graph.graph();
  const most = Math.max(...arrows.map(({ transitions }) => transitions), 1);
  const strokeWidth = scaleSqrt([0, most], [1, 4]);
  const begin = graph.node(BEGIN.id);
  return (
    <div class="scroll" role="region" aria-label="Lifecycle diagram" tabIndex={0}>
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
        {begin === undefined ? null : <circle class="head" cx={begin.x} cy={begin.y} r={BEGIN.radius} />}
        {arrows.map((arrow) => (
          <Arrow
            arrow={arrow}
            place={graph.edge(idOf(arrow.from), idOf(arrow.to))!}
            width={strokeWidth(arrow.transitions)}
            key={`${idOf(arrow.from)} ${arrow.to}`}
          />
        ))}
        {states.map((state) => (
          <State state={state} place={graph.node(idOf(state.name))!} key={state.name} />
        ))}
      </svg>
    </div>
  );
}

interface Point {
  x: number;
  y: number;
}

interface Size {
  width: number;
  height: number;
}

type PlacedState = Size & Point;

/** `x` and `y` are the centre of its label. */
type PlacedArrow = Point & { points: Point[] };

interface LayoutGraph {
  setGraph(options: object): void;
  setNode(id: string, size: Size): void;
  setEdge(from: string, to: string, label: Size & { labelpos: "c" }): void;
  graph(): Size;
  node(id: string): PlacedState | undefined;
  edge(from: string, to: string): PlacedArrow | undefined;
}

/** Types of the functions used: the library's own declarations cannot be resolved by the rules of Node.js. */
const { Graph, layout } = dagre as unknown as {
  Graph: new () => LayoutGraph;
  layout: (graph: LayoutGraph) => void;
};

/** Lays out the states and arrows from left to right; labels of arrows are boxes, too. */
function laidOut(states: readonly DiagramState[], arrows: readonly DiagramArrow[]): LayoutGraph {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 34, edgesep: 20, ranksep: 34, marginx: 12, marginy: 12 });
  if (arrows.some(({ from }) => from === null))
    graph.setNode(BEGIN.id, { width: 2 * BEGIN.radius, height: 2 * BEGIN.radius });
  for (const { name } of states) {
    const width = Math.max(STATE.widthMin, [...nameIn(name)].length * CHARACTER_WIDTH + 24);
    graph.setNode(idOf(name), { width, height: STATE.height });
  }
  for (const { from, to, transitions } of arrows) {
    const width = formatNumber(transitions).length * CHARACTER_WIDTH + 8;
    graph.setEdge(idOf(from), idOf(to), { width, height: 20, labelpos: "c" });
  }
  layout(graph);
  return graph;
}

const curve = line<Point>(
  ({ x }) => x,
  ({ y }) => y,
).curve(curveBasis);

function Arrow({ arrow, place, width }: { arrow: DiagramArrow; place: PlacedArrow; width: number }) {
  const { from, to, transitions, href } = arrow;
  return (
    <g class={transitions === 0 ? "unused" : undefined}>
      <path class="edge" d={curve(place.points) ?? ""} stroke-width={width} marker-end="url(#arrow)" />
      <MaybeLink href={transitions === 0 ? null : href}>
        <title>
          {from === null ? "first state" : `${printable(from)} to`} {printable(to)}: {formatNumber(transitions)}
        </title>
        <text class="halo" x={place.x} y={place.y} text-anchor="middle" dominant-baseline="central">
          {formatNumber(transitions)}
        </text>
      </MaybeLink>
    </g>
  );
}

function State({ state, place }: { state: DiagramState; place: PlacedState }) {
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
