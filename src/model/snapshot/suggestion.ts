import { distance } from "fastest-levenshtein";
import { LIMITS } from "./limits.js";

/**
 * The suggestion for a misspelt name: the candidate that was probably meant, which is the one that differs least from it, in at most
 * a third of its letters, and never in all of them; two neighbours that changed places are one letter. Undefined where nothing is near.
 */
export function nearest(name: string, candidates: Iterable<string>): string | undefined {
  // No name is longer, and the work grows with the square of the length.
  if (name.length > LIMITS.nameLength) return undefined;
  let best: string | undefined;
  let least = Math.min(Math.max(1, Math.floor(name.length / 3)), name.length - 1) + 1;
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - name.length) >= least) continue;
    const found = isSwapped(name, candidate) ? 1 : distance(name, candidate);
    if (found < least) [best, least] = [candidate, found];
  }
  return best;
}

/** Whether two neighbours that changed places are all that differs. */
function isSwapped(name: string, candidate: string): boolean {
  if (name.length !== candidate.length) return false;
  let at = 0;
  while (at < name.length && name[at] === candidate[at]) at += 1;
  const swapped = name.slice(0, at) + (name[at + 1] ?? "") + (name[at] ?? "") + name.slice(at + 2);
  return name !== candidate && swapped === candidate;
}

/** The candidate that a misspelt name is near to, if there is only one. */
export function onlyNear(name: string, candidates: readonly string[]): string | undefined {
  const near = nearest(name, candidates);
  const others = candidates.filter((candidate) => candidate !== near);
  return nearest(name, others) === undefined ? near : undefined;
}
