import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { dataOf, Story } from "../../examples/tools/story.js";
import { requestsOf } from "../../examples/tools/walk.js";
import type { StateDocument } from "../../src/engine/index.js";
import { EXAMPLES, readExpected } from "./support/examples.js";
import { expectedOf } from "./support/expected.js";
import { docBlocks } from "../support/doc-blocks.js";
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

it("examples/README.md plays an example as written: customers of svc dev stand as in expected.json", async () => {
  const blocks = docBlocks(await readFile(path.join(ROOT, "examples/README.md"), "utf8"));
  const { code } = blocks.find(({ heldBy }) => heldBy.includes("test/examples/tools.test.ts"))!;
  const port = String(await freePort());
  const { customers } = await readExpected(ecommerce);
  const addresses = Object.keys(customers).map((id) => `http://127.0.0.1:${port}/customers/${id}`);
  const script = `${code}curl -s ${addresses.join(" ")}`
    .replaceAll("4401", port)
    .replaceAll("curl -s", "curl -s -w '\\n'")
    // The tests build first; a person waits for the line with the address.
    .replace(/^npm run .*\n/, "")
    .replace(
      /(svc\.js dev .*)&\n/,
      `$1 --port ${port} > /dev/null &\ntrap 'kill %1' EXIT\ncurl -s --retry 60 --retry-connrefused --retry-delay 1 http://127.0.0.1:${port}/clock\n`,
    );
  const { stdout } = await promisify(execFile)("bash", ["-euo", "pipefail", "-c", script], { cwd: ROOT });
  expect(stdout).toContain("requests are accepted");
  expect(stdout).toContain('"flipsAt"');
  const documents = stdout.trimEnd().split("\n").slice(-addresses.length);
  const stand = documents.map((line) => JSON.parse(line) as StateDocument);
  expect(Object.fromEntries(stand.map((document) => [document.customerId, expectedOf(document, [])]))).toEqual(
    Object.fromEntries(Object.entries(customers).map(([id, customer]) => [id, { ...customer, emissions: [] }])),
  );
});
