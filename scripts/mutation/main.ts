// Measures how many mutations of the code the tests detect. Works on a copy of the last commit.
// Usage: npm run mutation -- [--count 40] [--seed 1] [engine | ingestion | sql …]
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { parseArgs } from "node:util";
import { type Mutant, mutantsOfSql, mutantsOfTypeScript } from "./mutants.js";

const SUBJECTS: Record<string, { folders: string[]; tests: string[] }> = {
  engine: { folders: ["src/engine"], tests: ["test/engine", "test/examples/examples.test.ts"] },
  ingestion: { folders: ["src/ingestion"], tests: ["test/http/ingest", "test/model", "test/client"] },
  sql: {
    folders: ["sql/functions/ingestion", "sql/functions/evaluation", "sql/functions/recompute"],
    tests: [
      "test/sql",
      "test/http/ingest",
      "test/http/admin/events.test.ts",
      "test/http/admin/recomputes.test.ts",
      "test/tasks",
    ],
  },
};
const START_MS = 60_000;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { count: { type: "string", default: "40" }, seed: { type: "string", default: "1" } },
});
const copy = mkdtempSync(path.join(os.tmpdir(), "svc-mutation-"));
process.once("exit", () => {
  execFileSync("git", ["worktree", "remove", "--force", copy]);
  rmSync(copy, { recursive: true, force: true });
});
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
execFileSync("git", ["worktree", "add", "--detach", "--force", "--quiet", copy, "HEAD"]);
symlinkSync(path.resolve("node_modules"), path.join(copy, "node_modules"));
for (const subject of positionals.length > 0 ? positionals : Object.keys(SUBJECTS)) await judge(subject);

/** Tests mutants of a subject, drawn by the seed, and prints those that survived. */
async function judge(subject: string): Promise<void> {
  const { folders, tests } = SUBJECTS[subject] ?? unknown(subject);
  const startedAt = performance.now();
  if (!(await pass(tests, Infinity))) throw new Error(`the tests of ${subject} fail without any mutation`);
  const msMax = 3 * (performance.now() - startedAt) + START_MS;
  const mutants = folders.flatMap(filesIn).flatMap(mutantsIn);
  const drawn = draw(mutants, Number(values.count), Number(values.seed));
  let survived = 0;
  for (const mutant of drawn) {
    const file = path.join(copy, mutant.file);
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.slice(0, mutant.start) + mutant.replacement + text.slice(mutant.end));
    if (await pass(tests, msMax)) {
      survived++;
      console.log(`survived: ${mutant.file}:${mutant.line}: \`${mutant.original}\` -> \`${mutant.replacement}\``);
    }
    writeFileSync(file, text);
  }
  const detected = drawn.length - survived;
  console.log(`${subject}: ${detected} of ${drawn.length} detected, of ${mutants.length} possible`);
}

function filesIn(folder: string): string[] {
  const names = readdirSync(path.join(copy, folder), { recursive: true, encoding: "utf8" }).toSorted();
  return names.filter((name) => /[.](ts|sql)$/.test(name)).map((name) => path.join(folder, name));
}

function mutantsIn(file: string): Mutant[] {
  const text = readFileSync(path.join(copy, file), "utf8");
  return file.endsWith(".sql") ? mutantsOfSql(file, text) : mutantsOfTypeScript(file, text);
}

/** Whether the tests pass within a time limit: a mutant that never ends counts as detected. */
async function pass(tests: readonly string[], msMax: number): Promise<boolean> {
  const args = ["node_modules/vitest/vitest.mjs", "run", "--bail", "1", "--reporter", "dot", ...tests];
  const child = spawn(process.execPath, args, { cwd: copy, stdio: "ignore", detached: true });
  const timer = setTimeout(() => process.kill(-child.pid!, "SIGKILL"), Math.min(msMax, 2 ** 31 - 1));
  const [code] = (await once(child, "exit")) as [number | null];
  clearTimeout(timer);
  return code === 0;
}

/** Draws distinct mutants with a deterministic generator. */
function draw(mutants: readonly Mutant[], count: number, seed: number): Mutant[] {
  const remaining = [...mutants];
  const drawn: Mutant[] = [];
  for (let state = seed >>> 0; drawn.length < count && remaining.length > 0;) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    drawn.push(...remaining.splice(Math.floor((state / 2 ** 32) * remaining.length), 1));
  }
  return drawn;
}

function unknown(subject: string): never {
  throw new Error(`there is no subject ${subject}: ${Object.keys(SUBJECTS).join(", ")}`);
}
