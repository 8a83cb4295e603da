import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { dataOf, Story } from "../../examples/tools/story.js";
import { requestsOf } from "../../examples/tools/walk.js";
import { compileProject } from "../../src/dsl-compiler/index.js";
import { TestClock } from "../../src/local/clock.js";
import { LocalEngine } from "../../src/local/engine.js";
import { startLocalServer } from "../../src/local/server.js";
import { EXAMPLES, readData, readExpected } from "./support/examples.js";
import { docBlocks } from "../support/doc-blocks.js";
import { playLocally } from "./support/local.js";
import { freePort } from "../support/free-port.js";

const ROOT = path.resolve(import.meta.dirname, "../..");
const ecommerce = EXAMPLES.find(({ name }) => name === "ecommerce")!;
const DAY = 86_400_000;
const BEGIN = "2026-01-05T09:00:00.000Z";
const day = (count: number) => Date.parse(BEGIN) + count * DAY;

describe("stories", () => {
  const a = new Story("a", BEGIN).becomes(0, { plan: "pro" }).does(0, "login", { mobile: true });
  const late = new Story("b", BEGIN).arrives(2).does(1, "login").does(0.5, "login").does(3, "login");

  it("become lines in the order of arrival, and for the same moment in the order of events", () => {
    const lines = dataOf([late, a.every(2, 1, 4, "used")]).trimEnd();
    const operations = lines.split("\n").map((line) => JSON.parse(line) as { customerId: string; timestamp?: string });
    expect(operations.map(({ customerId, timestamp }) => `${customerId} ${timestamp ?? "-"}`)).toEqual([
      "a -",
      `a ${BEGIN}`,
      "a 2026-01-06T09:00:00.000Z",
      "b 2026-01-05T21:00:00.000Z",
      "b 2026-01-06T09:00:00.000Z",
      "b 2026-01-08T09:00:00.000Z",
      "a 2026-01-08T09:00:00.000Z",
    ]);
    const login = { customerId: "a", event: "login", properties: { mobile: true }, timestamp: BEGIN };
    expect(operations[1]).toEqual({ ...login, idempotencyKey: "a/2" });
  });

  it("are accepted as they happen, traits together with the next event, and late ones separately", () => {
    const requests = requestsOf(dataOf([a, late]));
    expect(requests.map(({ at }) => at)).toEqual([0, 1, 1, 1, 3, 3].map(day));
    expect(requests.map(({ operations }) => operations.length)).toEqual([2, 1, 1, 1, 1, 1]);
  });

  it("are refused if a timestamp is missing", () => {
    expect(() => requestsOf('{"customerId": "a", "event": "login"}')).toThrow("line 1: the event has no timestamp");
    expect(() => requestsOf('{"type": "identify", "customerId": "a", "traits": {}}')).toThrow("put it before an event");
  });
});

it("play.ts sends the data to svc dev, with the same result as in the tests", async () => {
  const compiled = await compileProject(ecommerce.directory);
  if (!compiled.ok) throw new Error(JSON.stringify(compiled.diagnostics));
  const data = await readData(ecommerce);
  const options = { environment: "test" as const, configVersion: "v1", settleMs: 30_000 };
  const engine = new LocalEngine(compiled, { ...options, clock: new TestClock(requestsOf(data)[0]!.at) });
  const server = await startLocalServer({ engine, port: 0, observe: () => undefined, timersFired: () => undefined });
  onTestFinished(() => server.stop());

  const args = [
    "--import",
    "tsx",
    "examples/tools/play.ts",
    "examples/ecommerce/data.jsonl",
    server.url,
    ecommerce.end,
  ];
  const { stdout } = await promisify(execFile)(process.execPath, args, { cwd: ROOT });
  expect(stdout).toContain("requests are accepted");
  const { engine: own } = playLocally(compiled, data, ecommerce.end);
  expect(engine.population.customerIds.map((id) => engine.document(id))).toEqual(
    own.population.customerIds.map((id) => own.document(id)),
  );
});

it("examples/README.md plays an example as written, and shows a customer's state and explanation", async () => {
  const blocks = docBlocks(await readFile(path.join(ROOT, "examples/README.md"), "utf8"));
  const { code } = blocks.find(({ heldBy }) => heldBy.includes("test/examples/tools.test.ts"))!;
  const port = String(await freePort());
  const script = code
    .replaceAll("4401", port)
    // The tests build first; a person waits for the line with the address.
    .replace(/^npm run .*\n/, "")
    .replace(
      /(svc\.js dev .*)&\n/,
      `$1 --port ${port} > /dev/null &\ntrap 'kill %1' EXIT\ncurl -s --retry 20 --retry-connrefused --retry-delay 1 http://127.0.0.1:${port}/clock\n`,
    );
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], { cwd: ROOT });
  const { customers } = await readExpected(ecommerce);
  const stands = customers["vip-who-stops"]!.lifecycle.split(" ")[0]!;
  expect(stdout).toContain(`"lifecycle":"${stands}"`);
  expect(stdout).toContain('"flipsAt"');
});
