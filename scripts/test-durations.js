// Writes test/durations.json, by which the longest test files start first, from a report of all tests:
// npm test -- --reporter=json --outputFile=report.json && node scripts/test-durations.js report.json
import { readFileSync, writeFileSync } from "node:fs";
import path from "node:path";

/** The order of shorter files does not matter. */
const MS_MIN = 3_000;

const { testResults } = JSON.parse(readFileSync(process.argv[2], "utf8"));
const durations = testResults
  .map(({ name, startTime, endTime }) => [path.relative(process.cwd(), name), Math.round(endTime - startTime)])
  .filter(([, ms]) => ms >= MS_MIN)
  .toSorted(([, a], [, b]) => b - a);
writeFileSync("test/durations.json", `${JSON.stringify(Object.fromEntries(durations), null, 2)}\n`);
console.log(`${durations.length} files of ${testResults.length} take ${MS_MIN / 1_000} s or more`);
