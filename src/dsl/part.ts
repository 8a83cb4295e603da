import { LOWER, PART } from "./symbols.js";
import { located, locatedAs } from "./site.js";

/** A declared part of a model, to be listed in `defineModel`. */
export interface Part<Kind extends string, Node> {
  readonly [PART]: Kind;
  readonly [LOWER]: () => Node;
}

/** What makes an object a part. Its node is made when it is asked for, and is located at the present call. */
export function part<Kind extends string, Node extends object>(kind: Kind, lower: () => Node): Part<Kind, Node> {
  const site = located({});
  return { [PART]: kind, [LOWER]: () => locatedAs(lower(), site) };
}
