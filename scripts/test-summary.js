// Prints `N passed, N failed` (and `, N skipped` where some were) of a vitest JSON report: node scripts/test-summary.js report.json
// Exits with 1 where something failed.
import { readFile } from "node:fs/promises";

const report = JSON.parse(await readFile(process.argv[2], "utf8"));
const skipped = report.numPendingTests + report.numTodoTests;
// A test file that cannot even be loaded has no tests to count: it counts as one that failed.
const unloaded = report.testResults.filter(
  ({ status, assertionResults }) => status === "failed" && assertionResults.every((test) => test.status !== "failed"),
).length;
// An error outside of every test (an unhandled rejection, say) fails the run as well, and so does a run of no tests.
const good = report.success && report.numPassedTests > 0;
const failed = Math.max(report.numFailedTests + unloaded, good ? 0 : 1);

console.log(`${report.numPassedTests} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ""}`);
if (failed > 0) process.exitCode = 1;
