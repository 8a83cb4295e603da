import { chmod, readdir, readFile } from "node:fs/promises";
import path from "node:path";
import { afterEach, expect, test } from "vitest";
import { DEBIAN_PROGRAMS } from "../support/debian-server.js";
import { FixtureProject, type Outcome } from "./support/project.js";

const sideBySide = ["run format:check", "run lint", "run types", "run deps", "run unused"];
const steps = ["ci", ...sideBySide, "run build", "test"];
/** The second run of the database tests, if PostgreSQL 15 is installed; .ci/run selects them. */
const SECOND_PASS = /^test test\/sql .* on 15$/;

interface Report {
  success: boolean;
  numPassedTests: number;
  numFailedTests: number;
  numPendingTests: number;
  numTodoTests: number;
  testResults: { status: string; assertionResults: { status: string }[] }[];
}

const passing: Report = {
  success: true,
  numPassedTests: 12,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [{ status: "passed", assertionResults: [{ status: "passed" }] }],
};

const projects: FixtureProject[] = [];

afterEach(async () => {
  for (const project of projects.splice(0)) await project.remove();
});

/**
 * Runs `.ci/run` with an `npm` that records each command, fails on one, and writes a report for `npm test` (text, if not an object).
 * Returns the outcome, the commands, and the files left in the temporary directory.
 */
async function run(how: {
  failing?: string;
  report?: Report | string;
  /** The report of the second pass; without it, PostgreSQL 15 is not found. */
  secondReport?: Report;
}): Promise<Outcome & { commands: string[]; left: string[] }> {
  const project = await FixtureProject.create({
    "tmp/.keep": "",
    "tests.json": text(how.report),
    "tests-15.json": text(how.secondReport),
  });
  projects.push(project);
  await project.take(".ci/run");
  await project.take("scripts/test-summary.js");
  const words = (how.failing ?? "nothing").split(" ").at(-1) ?? "";
  const lines = [
    "#!/usr/bin/env bash",
    'echo "$*${TEST_POSTGRES:+ on $TEST_POSTGRES}" >> commands.txt',
    'report="tests${TEST_POSTGRES:+-$TEST_POSTGRES}.json"',
    'for word in "$@"; do',
    '  if [[ $word == --outputFile.json=* && -s $report ]]; then cp "$report" "${word#*=}"; fi',
    "done",
    `for word in "$@"; do if [[ $word == ${words} ]]; then echo "it failed" >&2; exit 3; fi; done`,
    "",
  ];
  await project.write("bin/npm", lines.join("\n"));
  await chmod(path.join(project.root, "bin/npm"), 0o755);
  const environment = {
    PATH: `${path.join(project.root, "bin")}${path.delimiter}${process.env["PATH"] ?? ""}`,
    TMPDIR: path.join(project.root, "tmp"),
    TEST_POSTGRES: "", // set if these tests themselves run on another version
    POSTGRES_15: how.secondReport === undefined ? path.join(project.root, "missing") : process.execPath,
  };
  // From another directory: the script must find its own.
  const outcome = await project.run(
    "bash",
    ["-c", 'cd / && bash "$0"', path.join(project.root, ".ci/run")],
    environment,
  );
  const noted = await readFile(path.join(project.root, "commands.txt"), "utf8");
  const commands = noted
    .trim()
    .split("\n")
    .map((line) => line.replaceAll(/ ?--\S*/g, ""));
  // In any order, since they begin together.
  const together = commands.slice(1, 1 + sideBySide.length);
  commands.splice(1, together.length, ...together.toSorted((a, b) => steps.indexOf(a) - steps.indexOf(b)));
  const left = await readdir(path.join(project.root, "tmp"));
  return { ...outcome, commands, left: left.filter((name) => name !== ".keep") };
}

function text(report: Report | string | undefined): string {
  return typeof report === "object" ? JSON.stringify(report) : (report ?? "");
}

const lastLine = ({ stdout }: Outcome) => stdout.trimEnd().split("\n").at(-1);

test("runs all steps, each under its heading and with its time, and ends with the number of tests", async () => {
  const outcome = await run({ report: { ...passing, numPendingTests: 2, numTodoTests: 1 } });
  expect(outcome.commands).toEqual(steps);
  expect(outcome.stdout.match(/^== .*/gm)).toHaveLength(steps.length + 1); // and what was not run
  expect(outcome.stdout.match(/^-- .*: \d+ s$/gm)).toHaveLength(steps.length);
  expect(outcome.stdout).toMatch(/^-- not run: there is no \S+missing \(Debian: postgresql-15\)$/m);
  expect(lastLine(outcome)).toBe("12 passed, 0 failed, 3 skipped");
  expect(outcome).toMatchObject({ code: 0, stderr: "", left: [] });
});

test("runs the database tests again if PostgreSQL 15 is installed, and adds up both results", async () => {
  const secondReport = { ...passing, success: false, numPassedTests: 3, numFailedTests: 2, numPendingTests: 1 };
  const outcome = await run({ report: passing, secondReport });
  expect(outcome.commands).toEqual([...steps, expect.stringMatching(SECOND_PASS)]);
  expect(lastLine(outcome)).toBe("15 passed, 2 failed, 1 skipped");
  expect(outcome.code).toBe(1);
});

test("looks for PostgreSQL 15 in the directory from which the tests start it", async () => {
  const script = await readFile(new URL("../../.ci/run", import.meta.url), "utf8");
  expect(script).toContain(`"\${POSTGRES_15:-${DEBIAN_PROGRAMS}/postgres}"`);
});

// All steps are run by the same function.
test.each(["ci", "run build"])("stops at a step that fails: %s", async (failing) => {
  const outcome = await run({ failing, report: passing });
  expect(outcome.commands).toEqual(steps.slice(0, steps.indexOf(failing) + 1));
  expect(lastLine(outcome)).toBe("0 passed, 1 failed");
  expect(outcome).toMatchObject({ code: 3, left: [] });
});

test("stops after the checks that run side by side if one of them fails, and shows what each printed", async () => {
  const outcome = await run({ failing: "run lint", report: passing });
  expect(outcome.commands).toEqual(["ci", ...sideBySide]);
  expect(outcome.stdout.match(/^== .*/gm)).toEqual(
    ["install", "format:check", "lint", "types", "deps", "unused"].map((title) => `== ${title}`),
  );
  expect(outcome.stdout).toMatch(/^== lint\nit failed\n-- lint failed after \d+ s$/m);
  expect(lastLine(outcome)).toBe("0 passed, 1 failed");
  expect(outcome).toMatchObject({ code: 3, stderr: "", left: [] });
});

const failed = { ...passing, success: false };
const unloaded = [...passing.testResults, { status: "failed", assertionResults: [] }];
test.each([
  ["12 passed, 2 failed", 3, { failing: "test", report: { ...failed, numFailedTests: 2 } }],
  ["12 passed, 1 failed", 3, { failing: "test", report: { ...failed, testResults: unloaded } }],
  ["12 passed, 1 failed", 3, { failing: "test", report: failed }],
  ["12 passed, 1 failed", 3, { failing: "test", report: passing }],
  ["12 passed, 1 failed", 1, { report: { ...failed, numFailedTests: 1 } }],
  ["0 passed, 1 failed", 1, { report: { ...passing, numPassedTests: 0, testResults: [] } }],
  ["0 passed, 1 failed", 1, {}],
  ["0 passed, 1 failed", 1, { report: '{"numPassed' }],
])("ends with %j and exit code %i for %j, and runs nothing after it", async (last, code, how) => {
  const outcome = await run({ ...how, secondReport: passing });
  expect(outcome.commands).toEqual(steps);
  expect(lastLine(outcome)).toBe(last);
  expect(outcome.code).toBe(code);
});
