import { readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough } from "node:stream";
import { expect, it } from "vitest";
import { FAULTS } from "../../faults/kinds/index.js";
import { runFaults } from "../../faults/run.js";
import { useRepositoryProgram } from "../support/repository-program.js";

const faults = useRepositoryProgram("faults");

it(
  "loses and duplicates nothing that was accepted, and every customer has the same state as without faults, while faults strike one by one",
  { timeout: 300_000 },
  async () => {
    const refused = path.join(faults.directory, "refused.jsonl");
    const line = (n: number) => JSON.stringify({ event: "line_sold", idempotencyKey: `refused-${n}` });
    await writeFile(refused, Array.from({ length: 20 }, (_, n) => line(n)).join("\n"));
    const output = new PassThrough().resume();
    const stop = new AbortController().signal;

    const result = await runFaults(
      { data: [], operations: 2_800, refused, senders: 4, batch: 12, strikes: FAULTS.length, seed: 1, nodes: [] },
      { output, stop },
    );

    const missing = result.missing.map(({ fault }) => fault);
    const expected = FAULTS.map(({ name }) => name).filter((name) => !missing.includes(name));
    // A fault that needs its own disk is reported as missing if there cannot be one.
    expect(missing.filter((fault) => fault !== "disk full")).toEqual([]);
    expect(result.strikes.map(({ fault }) => fault)).toEqual([...expected, ...expected].slice(0, FAULTS.length));
    for (const { findings } of result.strikes)
      expect(findings).toEqual({ lost: 0, doubled: 0, violated: 0, different: 0, examples: [] });
    expect(result.answersLost).toBeGreaterThan(0);
    expect(result.refused?.events).toBe(20);
    const figures = result.verification.figures.map(({ what, sent, stored }) => [what, sent, stored]);
    expect(figures).toEqual([
      ["operations, and those acknowledged", "2800", "2800"],
      ["events", "2730", "2730"],
      ["idempotency keys", "2730", "2730"],
      ["event ids, all different", "2730", "2730"],
      ["events that count as usage", "2730", "2730"],
      ["trait updates, all different", "70", "70"],
      ["customers", "112", "112"],
      ['executions of a rule on "line_cancelled"', "55", "55"],
      ["operations that wait for evaluation", "0", "0"],
      ['sum of "quantity", in decimals', "64328", "64328"],
      ['sum of "unitPrice", in decimals', "27313.66", "27313.66"],
      ["emissions, and those received", expect.stringMatching(/^\d{4}$/), expect.stringMatching(/^\d{4}$/)],
    ]);
    for (const [what, sent, stored] of figures) expect([what, stored]).toEqual([what, sent]);
    expect(result.verification.claims.flatMap(({ counterexamples }) => counterexamples)).toEqual([]);
  },
);

it("an interrupted run stops its processes and removes its data", { timeout: 120_000 }, async () => {
  const addresses: string[] = [];
  await faults.interrupt(["--operations", "2000"], /the service answers at /, async (line) => {
    const [name = ""] = await faults.leftovers();
    const pidFile = path.join(faults.directory, name, "disk", "data", "postgres", "data", "postmaster.pid");
    const port = (await readFile(pidFile, "utf8")).split("\n")[3]!.trim();
    addresses.push(/answers at (\S+)/.exec(line)![1]!, `http://127.0.0.1:${port}`);
  });
  for (const address of addresses) {
    await expect(fetch(address)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
  }
});

it.each([
  [{ operations: 90, strikes: 10, batch: 10 }, /^90 operations are too few for 10 strikes among batches of 10: /],
  [{ operations: 90, strikes: 1, batch: 10, refused: "missing.jsonl" }, /^cannot read missing\.jsonl: ENOENT/],
])("refuses impossible options before it starts anything: %o", async (given, problem) => {
  const options = { data: [], refused: null, senders: 1, seed: 1, nodes: [], ...given };
  const context = { output: new PassThrough().resume(), stop: new AbortController().signal };
  await expect(runFaults(options, context)).rejects.toMatchObject({
    message: expect.stringMatching(problem),
    exitCode: 2,
  });
});
