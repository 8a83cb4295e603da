import { closest, distance } from "fastest-levenshtein";

/** The candidate that differs least from the name, if it is near enough to be what was meant. */
export function nearest(name: string, candidates: readonly string[]): string | null {
  if (candidates.length === 0) return null;
  const best = closest(name, candidates);
  return distance(name, best) <= Math.max(2, Math.floor(name.length / 3)) ? best : null;
}
