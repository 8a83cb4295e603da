import { once } from "node:events";
import { mkdir, writeFile } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { readOptions } from "../../fuzz/options.js";
import { useRepositoryProgram } from "../support/repository-program.js";

const fuzz = useRepositoryProgram("fuzz");

it(
  "the service never answers 5xx, and stores accepted input unchanged: bodies, requests, snapshots",
  { timeout: 300_000 },
  async () => {
    const corpus = path.join(fuzz.directory, "corpus");
    await mkdir(corpus);
    await writeFile(path.join(corpus, "lines.txt"), 'undefined\n"\\u0000"\n<script>\n');
    await writeFile(path.join(corpus, "value.json"), '{"a":1,"a":[1E+2,-0.0,"é"]}');
    const child = fuzz.start("--bodies", "100", "--requests", "200", "--snapshots", "20", "--corpus", corpus);
    const exited = once(child, "exit");

    const output = await text(child.stdout!);

    expect([output.match(/^nothing found$|^\S+, seed .*$/gm), await exited]).toEqual([["nothing found"], [0, null]]);
    expect(output).toMatch(/^ingestion +\d+ /m);
    expect(output).toMatch(/^administration +200 /m);
    expect(output).toMatch(/^snapshots: .* × 201\b/m);
    expect(await fuzz.leftovers()).toEqual([]);
  },
);

it.each([
  [["--bodies", "-1"], /^--bodies must be a whole number from 0 to /],
  [["--seed", "x"], /^--seed must be a whole number from 0 to /],
])("invalid options are refused: %o", async (args, problem) => {
  await expect(readOptions(args, () => undefined)).rejects.toMatchObject({
    message: expect.stringMatching(problem),
    exitCode: 2,
  });
});
