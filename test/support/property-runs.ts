/**
 * How often a property is tried: as often as `npm test` needs to find what it is for in nearly every run, and ten times as often with
 * `npm run test:deep`.
 */
export function propertyRuns(usual: number): number {
  return process.env["SVC_TEST_DEEP"] === "1" ? 10 * usual : usual;
}
