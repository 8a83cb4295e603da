import { once } from "node:events";
import { readdir, rm } from "node:fs/promises";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, it } from "vitest";
import { readOptions } from "../../attacks/options.js";
import { temporaryDirectory } from "../support/server.js";
import { attackAtOnce, startAttacks } from "./support/run.js";

let directory: string;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

it(
  "the neighbour's events are evaluated, each once, while somebody keeps connections busy",
  { timeout: 180_000 },
  async () => {
    const { outcome } = await attackAtOnce(directory, ["slow-headers", "streams"]);

    const { breaches, notOnce, restarts, refused, during } = outcome;
    expect({ breaches, notOnce, restarts, refused }).toEqual({ breaches: [], notOnce: 0, restarts: 0, refused: {} });
    expect(during?.count).toBeGreaterThan(0);
    expect(await runsIn(directory)).toEqual([]);
  },
);

it("a run that is interrupted ends what it started and removes its data", { timeout: 120_000 }, async () => {
  const child = startAttacks(directory, ["--only", "second-host"]);
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

async function runsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith("svc-attacks-"));
}
