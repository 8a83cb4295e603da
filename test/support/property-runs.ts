/** Whether `npm run test:deep` asks for all there is to try. */
export const IS_DEEP = process.env["SVC_TEST_DEEP"] === "1";

/**
 * How often a property is tried: as often as `npm test` needs to find what it is for in nearly every run, and ten times as often with
 * `npm run test:deep`.
 */
export function propertyRuns(usual: number): number {
  return IS_DEEP ? 10 * usual : usual;
}

/**
 * A few of many cases, each of which is to be refused by the same code wherever it is tried: at each turn the next ones, so that all of
 * them are tried somewhere. With `npm run test:deep` it is all of them each time.
 */
export function someOf<T>(cases: readonly T[], usual: number, turn: number): T[] {
  if (IS_DEEP || usual >= cases.length) return [...cases];
  return Array.from({ length: usual }, (_, n) => cases[(turn * usual + n) % cases.length]!);
}
