// Prints the totals `N passed, N failed` (and `, N skipped` if there are any) of vitest's JSON reports:
// node scripts/test-summary.js STATUS report.json …
// STATUS is the exit code of the last run. A failure after the tests, such as a secret in the log, is in no report and counts as one failure.
// Exits with 1 if something failed.
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
  // A test file that cannot be loaded has no tests: it counts as one failed test.
  const unloaded = report.testResults.filter(
    ({ status, assertionResults }) => status === "failed" && assertionResults.every((test) => test.status !== "failed"),
  ).length;
  // An error outside of every test, such as an unhandled rejection, fails the run as well, and so does a run without tests.
  const good = report.success && report.numPassedTests > 0;
  return {
    passed: report.numPassedTests,
    failed: Math.max(report.numFailedTests + unloaded, good ? 0 : 1),
    skipped: report.numPendingTests + report.numTodoTests,
  };
}
