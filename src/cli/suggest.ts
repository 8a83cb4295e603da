import { closest, distance } from "fastest-levenshtein";

/** The candidate that was probably meant; none where nothing is near. */
export function suggestion(word: string, candidates: readonly string[]): string | undefined {
  if (candidates.length === 0) return undefined;
  const nearest = closest(word, candidates);
  return distance(word, nearest) <= Math.max(1, Math.floor(word.length / 3)) ? nearest : undefined;
}
