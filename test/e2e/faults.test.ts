import { spawn } from "node:child_process";
import { once } from "node:events";
import { readdir, readFile, rm, writeFile } from "node:fs/promises";
import path from "node:path";
import { PassThrough } from "node:stream";
import { fileURLToPath } from "node:url";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runFaults } from "../../faults/run.js";
import { temporaryDirectory } from "../support/server.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

let directory: string;
beforeAll(async () => {
  directory = await temporaryDirectory();
});
afterAll(() => rm(directory, { recursive: true, force: true }));

it(
  "nothing accepted is lost or doubled while the service, its database, parts of it and answers are lost",
  { timeout: 300_000 },
  async () => {
    const refused = path.join(directory, "refused.jsonl");
    const line = (n: number) => JSON.stringify({ event: "line_sold", idempotencyKey: `refused-${n}` });
    await writeFile(refused, Array.from({ length: 20 }, (_, n) => line(n)).join("\n"));
    const output = new PassThrough().resume();
    const stop = new AbortController().signal;

    const result = await runFaults(
      { data: [], operations: 10_000, refused, senders: 8, batch: 100, kills: 5, seed: 1 },
      { output, stop },
    );

    expect(result.strikes.map(({ fault }) => fault)).toEqual([
      "service",
      "postmaster",
      "all of PostgreSQL",
      "one backend",
      "service and PostgreSQL",
    ]);
    expect(result.answersLost).toBeGreaterThan(0);
    expect(result.refused?.events).toBe(20);
    const figures = result.verification.figures.map(({ what, sent, stored }) => [what, sent, stored]);
    expect(figures).toEqual([
      ["operations, and those acknowledged", "10000", "10000"],
      ["events", "9746", "9746"],
      ["idempotency keys", "9746", "9746"],
      ["event ids, all different", "9746", "9746"],
      ["events that count as usage", "9746", "9746"],
      ["trait updates, all different", "254", "254"],
      ["customers", "400", "400"],
      ['executions of a rule on "line_cancelled"', "193", "193"],
      ["operations that wait for evaluation", "0", "0"],
      ['sum of "quantity", in decimals', "229182", "229182"],
      ['sum of "unitPrice", in decimals', "97330.86", "97330.86"],
    ]);
    expect(result.verification.claims.flatMap(({ counterexamples }) => counterexamples)).toEqual([]);
  },
);

it("a run that is interrupted ends what it started and removes its data", { timeout: 120_000 }, async () => {
  const child = spawn(process.execPath, ["--import", "tsx", "faults/main.ts"], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: directory },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const exited = once(child, "exit");
  let service = "";
  for await (const line of createInterface({ input: child.stdout })) {
    service = /the service answers at (\S+)/.exec(line)?.[1] ?? service;
    if (service !== "") break;
  }
  const [name = ""] = await runsIn(directory);
  const postmaster = await readFile(path.join(directory, name, "data", "postgres", "data", "postmaster.pid"), "utf8");
  const database = `http://127.0.0.1:${postmaster.split("\n")[3]?.trim()}`;

  child.kill("SIGINT");

  expect(await exited).toEqual([130, null]);
  expect(await runsIn(directory)).toEqual([]);
  for (const address of [service, database]) {
    await expect(fetch(address)).rejects.toMatchObject({ cause: { code: "ECONNREFUSED" } });
  }
});

async function runsIn(folder: string): Promise<string[]> {
  return (await readdir(folder)).filter((name) => name.startsWith("svc-faults-"));
}
