import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readOptions } from "../../attacks/options.js";
import type { Attacked, Outcome } from "../../attacks/outcome.js";
import { temporaryDirectory } from "../support/server.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

let directory: string;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

it(
  "the neighbour's events are evaluated, each once, while somebody keeps connections busy",
  { timeout: 180_000 },
  async () => {
    const { outcomes } = await attack("slow-headers", "streams");

    const [{ breaches, notOnce, restarts, refused }] = outcomes;
    expect({ breaches, notOnce, restarts, refused }).toEqual({ breaches: [], notOnce: 0, restarts: 0, refused: {} });
    expect(outcomes[0].meanwhile).toBeGreaterThan(0);
    expect(await runsIn(directory)).toEqual([]);
  },
);

it("a run that is interrupted ends what it started and removes its data", { timeout: 120_000 }, async () => {
  const child = start(["--only", "second-host"]);
  const exited = once(child, "exit");
  for await (const line of createInterface({ input: child.stdout! })) if (line.startsWith("second-host: ")) break;
  child.stdout!.resume();

  child.kill("SIGINT");

  expect(await exited).toEqual([130, null]);
  expect(await runsIn(directory)).toEqual([]);
});

it.each([
  [["--only", "nothing"], /^--only: there is no attack `nothing`; there are .*\bcycle-year-1\b/],
  [["--minutes", "0"], /^--minutes must be a number above 0, at most 1440$/],
])("what cannot be run is refused: %o", async (args, problem) => {
  await expect(readOptions(args, () => undefined)).rejects.toMatchObject({
    message: expect.stringMatching(problem),
    exitCode: 2,
  });
});

function start(args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ["--import", "tsx", "attacks/main.ts", ...args], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: directory },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** All at once for a few seconds. How long anything took is not looked at: it depends on the machine. */
async function attack(...names: string[]): Promise<{ outcomes: [Outcome]; each: Attacked[] }> {
  const file = path.join(directory, "outcome.json");
  const child = start(["--only", names.join(","), "--all-at-once", "--minutes", "0.1", "--json", file]);
  child.stdout!.resume();
  await once(child, "exit");
  return JSON.parse(await readFile(file, "utf8")) as { outcomes: [Outcome]; each: Attacked[] };
}

async function runsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith("svc-attacks-"));
}
