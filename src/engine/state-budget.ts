import { at } from "../snapshot/problem.js";
import type { Snapshot } from "../snapshot/types.js";
import type { Aggregate } from "./aggregates.js";
import { LARGEST_AGGREGATES, largestDistinct, largestState, largestStream } from "./largest-state.js";
import { compileRegistry } from "./model.js";

/** What is remembered for a condition, or for several that share it. */
export interface RememberedPart {
  /** Where the first of the conditions stands in the snapshot. */
  path: string;
  /** How many conditions share it. */
  conditions: number;
  bytes: number;
}

/** What a model may remember for one customer at most: bytes of JSON in UTF-8. */
export interface StateBudget {
  bytes: number;
  /** What the conditions remember, the dearest first. */
  parts: RememberedPart[];
}

/**
 * An upper bound of the state of one customer under a model, without the traits: they are the caller's data.
 *
 * @param snapshot a sound one (`parseSnapshot`)
 */
export function stateBudget(snapshot: Snapshot): StateBudget {
  const { streams, aggregates } = compileRegistry(snapshot);
  const pathOf = pathsOf(snapshot);
  const part = (sources: readonly object[], bytes: number): RememberedPart => ({
    path: pathOf.get(sources[0]!)!,
    conditions: sources.length,
    // And the comma after it.
    bytes: bytes + 1,
  });
  const parts = [
    ...streams.map(({ sources, capacity }) => part(sources, bytesOfList(largestStream, capacity))),
    ...aggregates.map((aggregate) => part(aggregate.sources, bytesOfAggregate(aggregate))),
  ].sort((a, b) => b.bytes - a.bytes);
  return { bytes: parts.reduce((sum, { bytes }) => sum + bytes, bytesOf(largestState(snapshot))), parts };
}

function bytesOfAggregate({ kind, capacity }: Aggregate): number {
  return kind === "distinct" ? bytesOfList(largestDistinct, capacity) : bytesOf(LARGEST_AGGREGATES[kind]);
}

/** The bytes of something with so many elements, each of which takes as many as the second does. */
function bytesOfList(largest: (elements: number) => unknown, elements: number): number {
  const [none, one, two] = [0, 1, 2].map((few) => bytesOf(largest(few))) as [number, number, number];
  return elements === 0 ? none : one + (elements - 1) * (two - one);
}

function bytesOf(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Where each object of a snapshot stands in it. */
function pathsOf(snapshot: Snapshot): Map<unknown, string> {
  const paths = new Map<unknown, string>();
  const walk = (value: unknown, path: string): void => {
    if (typeof value !== "object" || value === null) return;
    paths.set(value, path);
    if (Array.isArray(value)) value.forEach((element, index) => walk(element, at(path, index)));
    else for (const [key, member] of Object.entries(value)) walk(member, at(path, key));
  };
  walk(snapshot, "");
  return paths;
}
