import type { Lifecycle } from "../../snapshot/types.js";

/**
 * The ways from a state to another that pass no state twice, by their first steps: the shortest way for each first transition that leads there, the
 * shortest of them first. Each is the list of states, both ends included.
 */
export function waysTo({ states }: Lifecycle, from: string, to: string): string[][] {
  const next = new Map(states.map(({ name, transitions }) => [name, transitions.map((transition) => transition.to)]));
  const ways = (next.get(from) ?? [])
    .filter((first) => first !== from)
    .map((first) => shortest(next, first, to, new Set([from])))
    .filter((way) => way !== null)
    .map((way) => [from, ...way]);
  const unique = new Map(ways.map((way) => [way.join("\n"), way]));
  return [...unique.values()].sort((a, b) => a.length - b.length);
}

/** The shortest way, breadth first; null where none leads there. */
function shortest(
  next: ReadonlyMap<string, readonly string[]>,
  from: string,
  to: string,
  passed: Set<string>,
): string[] | null {
  const queue = [[from]];
  passed.add(from);
  // It grows while it is walked.
  for (const way of queue) {
    const last = way.at(-1)!;
    if (last === to) return way;
    for (const state of next.get(last) ?? []) {
      if (passed.has(state)) continue;
      passed.add(state);
      queue.push([...way, state]);
    }
  }
  return null;
}
