// Prints `N passed, N failed` (and `, N skipped` where some were), all in all, of vitest's JSON reports:
// node scripts/test-summary.js STATUS report.json …
// STATUS is the exit code of the last run. What fails a run after its tests, such as a secret in its log, is in no report and counts as one failure.
// Exits with 1 where something failed.
import { readFile } from "node:fs/promises";

const sum = { passed: 0, failed: 0, skipped: 0 };
const [status, ...files] = process.argv.slice(2);
for (const file of files) {
  const { passed, failed, skipped } = await countsOf(file);
  sum.passed += passed;
  sum.failed += failed;
  sum.skipped += skipped;
}
if (status !== "0" && sum.failed === 0) sum.failed = 1;
console.log(`${sum.passed} passed, ${sum.failed} failed${sum.skipped > 0 ? `, ${sum.skipped} skipped` : ""}`);
if (sum.failed > 0) process.exitCode = 1;

/** A run without a report, or with a broken one, has failed. */
async function countsOf(file) {
  let report;
  try {
    report = JSON.parse(await readFile(file, "utf8"));
  } catch (error) {
    console.error(`no report of the tests: ${error.message}`);
    return { passed: 0, failed: 1, skipped: 0 };
  }
  // A test file that cannot even be loaded has no tests to count: it counts as one that failed.
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.every((test) => test.status !== "failed"),
  ).length;
  // An error outside of every test (an unhandled rejection, say) fails the run as well, and so does a run of no tests.
  const good = report.success && report.numPassedTests > 0;
  return {
    passed: report.numPassedTests,
    failed: Math.max(report.numFailedTests + unloaded, good ? 0 : 1),
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
