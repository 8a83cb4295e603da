/**
 * A text as PostgreSQL takes it in JSON: without U+0000, and without halves of surrogate pairs, which a cut leaves behind. What is
 * left out is marked by U+FFFD.
 */
export function storable(text: string): string {
  // With the u flag, a surrogate is only one that is no part of a pair.
  return text.replace(/[\0\p{Surrogate}]/gu, "\uFFFD");
}
