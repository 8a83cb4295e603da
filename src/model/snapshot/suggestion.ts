import { distance } from "fastest-levenshtein";
import { LIMITS } from "./limits.js";

/**
 * The suggestion for a misspelt name: the candidate that was probably meant, which is the one that differs least from it, in at most
 * a third of its letters, and never in all of them. Undefined where nothing is near.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  // No name is longer, and the work grows with the square of the length.
  if (name.length > LIMITS.nameLength) return undefined;
  let best: string | undefined;
  let least = Math.min(Math.max(1, Math.floor(name.length / 3)), name.length - 1) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const found = distance(name, candidate);
    if (found < least) [best, least] = [candidate, found];
  }
  return best;
}

/** The candidate that a misspelt name is near to, if there is only one. */
export function onlyNear(name: string, candidates: readonly string[]): string | undefined {
  const near = nearest(name, candidates);
  const others = candidates.filter((candidate) => candidate !== near);
  return nearest(name, others) === undefined ? near : undefined;
}
