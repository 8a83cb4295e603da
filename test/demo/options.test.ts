import { describe, expect, test } from "vitest";
import { readDemoOptions } from "../../src/demo/options.js";

const NOW = Date.UTC(2026, 2, 2, 15, 42, 7);
const read = (...args: string[]) => readDemoOptions(args, NOW, () => undefined);

describe("the demo's options", () => {
  test("default to the simulated history of 500 customers that ends at the current hour", async () => {
    expect(await read()).toMatchObject({
      data: null,
      keep: false,
      compare: false,
      seed: 1,
      customers: 500,
      days: 120,
      base: Date.UTC(2026, 2, 2, 15),
    });
  });

  test("are read as given", async () => {
    const options = await read("--data", "a.jsonl", "--model", "m", "--keep");
    expect(options).toMatchObject({ data: "a.jsonl", model: "m", keep: true });
    expect(await read("--seed", "7", "--customers=20", "--base", "2026-03-01T00:00:00Z")).toMatchObject({
      seed: 7,
      customers: 20,
      base: Date.UTC(2026, 2, 1),
    });
  });

  test.each([
    [["--sead", "7"], /sead/],
    [["extra"], /extra/],
    [["--data", "a.jsonl"], /model/],
    [["--data", "a.jsonl", "--model", "m", "--seed", "2"], /mutually exclusive/],
    [["--data"], /Not enough arguments/],
    [["--customers", "0"], /--customers must be a whole number from 1/],
    [["--customers", "many"], /--customers must be a whole number/],
    [["--days", "2.5"], /--days must be a whole number from 7/],
    [["--base", "soon"], /--base must be an instant/],
    [["--base", "2027-01-01T00:00:00Z"], /must not be in the future/],
  ])("refuse %j as a usage error", async (args, message) => {
    await expect(read(...args)).rejects.toMatchObject({
      name: "DemoFailure",
      exitCode: 2,
      message: expect.stringMatching(message),
    });
  });

  test("print their help and run nothing", async () => {
    let help = "";
    expect(await readDemoOptions(["--help"], NOW, (text) => (help += text))).toBeNull();
    for (const name of ["--data", "--model", "--keep", "--seed", "--customers", "--days", "--base"])
      expect(help).toContain(name);
  });
});
