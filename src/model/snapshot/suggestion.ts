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
