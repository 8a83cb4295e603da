import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, readdir, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readOptions } from "../../fuzz/options.js";
import { temporaryDirectory } from "../support/server.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

let directory: string;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

/** Starts `npm run fuzz`, whose data are in the directory. */
function start(...args: string[]): ChildProcess {
  return spawn(process.execPath, ["--import", "tsx", "fuzz/main.ts", ...args], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: directory },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

const leftovers = async () => (await readdir(directory)).filter((name) => name.startsWith("svc-fuzz-"));

it(
  "nothing is answered 5xx, and nothing that is accepted is stored as something else: bodies, requests, snapshots",
  { timeout: 300_000 },
  async () => {
    const corpus = path.join(directory, "corpus");
    await mkdir(corpus);
    await writeFile(path.join(corpus, "lines.txt"), 'undefined\n"\\u0000"\n<script>\n');
    await writeFile(path.join(corpus, "value.json"), '{"a":1,"a":[1E+2,-0.0,"é"]}');
    const child = start("--bodies", "600", "--requests", "1400", "--snapshots", "60", "--corpus", corpus);
    const exited = once(child, "exit");

    const output = await text(child.stdout!);

    expect([output.match(/^nothing found$|^\S+, seed .*$/gm), await exited]).toEqual([["nothing found"], [0, null]]);
    expect(output).toMatch(/^ingestion +624 /m);
    expect(output).toMatch(/^administration +1,400 /m);
    expect(output).toMatch(/^snapshots: .* × 201\b/m);
    expect(await leftovers()).toEqual([]);
  },
);

it("a run that is interrupted ends what it started and removes its data", { timeout: 120_000 }, async () => {
  const child = start("--bodies", "5000");
  const exited = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout! })) if (line.startsWith("ingestion ")) break;
  child.stdout!.resume();

  child.kill("SIGINT");

  expect(await exited).toEqual([130, null]);
  expect(await leftovers()).toEqual([]);
});

it.each([
  [["--bodies", "-1"], /^--bodies must be a whole number from 0 to /],
  [["--seed", "x"], /^--seed must be a whole number from 0 to /],
])("what cannot be run is refused: %o", async (args, problem) => {
  await expect(readOptions(args, () => undefined)).rejects.toMatchObject({
    message: expect.stringMatching(problem),
    exitCode: 2,
  });
});
