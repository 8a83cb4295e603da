/** How many times the usual number of runs is asked for: 10 by `npm run test:deep`, any other by hand. */
const FACTOR = Number(process.env["SVC_TEST_DEEP"] ?? 1);

/** Whether `npm run test:deep` asks for all there is to try. */
export const IS_DEEP = FACTOR > 1;

/** How often a property is tried: as often as `npm test` needs to find what it is for in nearly every run, times what is asked for. */
export function propertyRuns(usual: number): number {
  return FACTOR * usual;
}

/**
 * A few of many cases, each of which is to be refused by the same code wherever it is tried: at each turn the next ones, so that all of
 * them are tried somewhere. With `npm run test:deep` it is all of them each time.
 */
export function someOf<T>(cases: readonly T[], usual: number, turn: number): T[] {
  if (IS_DEEP || usual >= cases.length) return [...cases];
  return Array.from({ length: usual }, (_, n) => cases[(turn * usual + n) % cases.length]!);
}
