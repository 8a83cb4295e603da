import { expect, test } from "vitest";
import { readDemoOptions } from "../../src/demo/options.js";

const NOW = Date.UTC(2026, 2, 2, 15, 42, 7);
const read = (...args: string[]) => readDemoOptions(args, NOW, () => undefined);

test("without options, the demo simulates the history of 500 customers that ends at the current hour", async () => {
  const base = Date.UTC(2026, 2, 2, 15);
  const simulated = { data: null, keep: false, seed: 1, customers: 500, days: 120, base };
  expect(await read()).toMatchObject(simulated);
});

test("the demo's options are read as given", async () => {
  const options = await read("--data", "a.jsonl", "--model", "m", "--keep");
  expect(options).toMatchObject({ data: "a.jsonl", model: "m", keep: true });
  const history = { seed: 7, customers: 20, base: Date.UTC(2026, 2, 1) };
  expect(await read("--seed", "7", "--customers=20", "--base", "2026-03-01T00:00:00Z")).toMatchObject(history);
});

test.each([
  [["--sead", "7"], /sead/],
  [["extra"], /extra/],
  [["--data", "a.jsonl"], /model/],
  [["--data", "a.jsonl", "--model", "m", "--seed", "2"], /mutually exclusive/],
  [["--data"], /Not enough arguments/],
  [["--customers", "0"], /--customers must be a whole number from 1/],
  [["--days", "2.5"], /--days must be a whole number from 7/],
  [["--base", "soon"], /--base must be an instant/],
  [["--base", "2027-01-01T00:00:00Z"], /must not be in the future/],
])("%j is refused as a usage error", async (args, message) => {
  const refusal = { name: "DemoFailure", exitCode: 2, message: expect.stringMatching(message) as string };
  await expect(read(...args)).rejects.toMatchObject(refusal);
});

test("--help prints the options and runs nothing", async () => {
  let help = "";
  expect(await readDemoOptions(["--help"], NOW, (text) => (help += text))).toBeNull();
  for (const name of ["--data", "--model", "--keep", "--seed", "--customers", "--days", "--base"])
    expect(help).toContain(name);
});
