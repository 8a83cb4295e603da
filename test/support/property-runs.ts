/** The usual number of runs is multiplied by this: 10 for `npm run test:deep`, others if set by hand. */
const FACTOR = Number(process.env["SVC_TEST_DEEP"] ?? 1);

/** Whether all cases are to be tried, as in `npm run test:deep`. */
export const IS_DEEP = FACTOR > 1;

/** How often a property is tried: `usual` is enough to find the bug that it is for in nearly every run of `npm test`. */
export function propertyRuns(usual: number): number {
  return FACTOR * usual;
}

/**
 * A few of many cases that the same code handles wherever they are tried: each turn gets the next ones, so that all are tried somewhere. With
 * `npm run test:deep` each turn gets all of them.
 */
export function rotatingSample<T>(cases: readonly T[], usual: number, turn: number): T[] {
  if (IS_DEEP || usual >= cases.length) return [...cases];
  return Array.from({ length: usual }, (_, n) => cases[(turn * usual + n) % cases.length]!);
}
