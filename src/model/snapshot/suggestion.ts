import { distance } from "fastest-levenshtein";
import { LIMITS } from "./limits.js";

/**
 * The suggestion for a misspelt name: the candidate that differs least from it, in at most a third of its letters and never in all of
 * them. Two swapped neighboring letters count as one. Undefined if no candidate is near.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  // No valid name is longer, and the work grows with the square of the length.
  if (name.length > LIMITS.nameLength) return undefined;
  let best: string | undefined;
  let least = Math.min(Math.max(1, Math.floor(name.length / 3)), name.length - 1) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const differences = isSwapped(name, candidate) ? 1 : distance(name, candidate);
    if (differences < least) [best, least] = [candidate, differences];
  }
  return best;
}

/** Whether two texts differ only by two swapped neighboring letters. */
function isSwapped(name: string, candidate: string): boolean {
  if (name.length !== candidate.length) return false;
  let at = 0;
  while (at < name.length && name[at] === candidate[at]) at += 1;
  const swapped = name.slice(0, at) + (name[at + 1] ?? "") + (name[at] ?? "") + name.slice(at + 2);
  return name !== candidate && swapped === candidate;
}

/** The candidate near a misspelt name, if there is only one. */
export function onlyNear(name: string, candidates: readonly string[]): string | undefined {
  const near = nearest(name, candidates);
  const others = candidates.filter((candidate) => candidate !== near);
  return nearest(name, others) === undefined ? near : undefined;
}
