import * as dagre from "@dagrejs/dagre";

export interface Point {
  x: number;
  y: number;
}

interface Size {
  width: number;
  height: number;
}

/** What of the library is used: its own declarations cannot be resolved by the rules of Node.js. */
interface Dagre {
  Graph: new () => LayoutGraph;
  layout: (graph: LayoutGraph) => void;
}

interface LayoutGraph {
  setGraph(options: object): void;
  setNode(id: string, size: Size): void;
  setEdge(from: string, to: string, label: Size & { labelpos: "c" }): void;
  graph(): Size;
  node(id: string): PlacedNode | undefined;
  edge(from: string, to: string): PlacedEdge | undefined;
}

export type PlacedNode = Size & Point;

/** With the middle of its label. */
export type PlacedEdge = Point & { points: Point[] };

const { Graph, layout } = dagre as unknown as Dagre;

/** Places boxes and the arrows between them, whose labels are boxes, too, from left to right. */
export function placed(
  boxes: readonly (Size & { id: string })[],
  arrows: readonly (Size & { from: string; to: string })[],
) {
  const graph = new Graph();
  graph.setGraph({ rankdir: "LR", nodesep: 34, edgesep: 20, ranksep: 34, marginx: 12, marginy: 12 });
  for (const { id, ...size } of boxes) graph.setNode(id, size);
  for (const { from, to, ...size } of arrows) graph.setEdge(from, to, { ...size, labelpos: "c" });
  layout(graph);
  return {
    ...graph.graph(),
    box: (id: string) => graph.node(id)!,
    arrow: (from: string, to: string) => graph.edge(from, to)!,
  };
}
