import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";

import { cannedServer, json } from "./support/canned-server.js";
import { ended, start, type StartOptions } from "./support/program.js";

const run = (argv: string[], options?: StartOptions) => ended(start(argv, options));

// That --help exits with 0 is in test/spec/endpoints/command-line-client.test.ts.
test("an unknown command exits with 2 and writes to standard error only", async () => {
  expect(await run(["deplyo"])).toEqual({
    ...{ code: 2, stdout: "" },
    stderr: 'error [USAGE]: There is no command "svc deplyo"; did you mean "svc deploy"? See `svc --help`.\n',
  });
});

test("a large document passes through a pipe completely, and the process ends by itself", async () => {
  const document = {
    data: Array.from({ length: 200 }, (_, n) => ({ version: `v${n}`, pad: "x".repeat(5_000) })),
    nextCursor: null,
  };
  const { url } = await cannedServer(json(document));
  const { code, stdout } = await run(["config", "versions", "--project", "p", "--json"], { at: url });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toEqual(document);
});

test("ends quietly if the reader closes the pipe", async () => {
  const { url } = await cannedServer(json({ data: [{ pad: "x".repeat(5_000_000) }], nextCursor: null }));
  const child = start(["config", "versions", "--project", "p", "--json"], { at: url });
  child.stdout.once("data", () => child.stdout.destroy());
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "exit")]);
  expect({ code: code as number, stderr }).toEqual({ code: 0, stderr: "" });
});

/** A recompute that never changes. */
const QUEUED = {
  ...{ id: "rec_1", status: "queued", dry_run: true, environment: "test", customerId: null, error: null, result: {} },
  pins: { configVersion: "v1" },
  progress: { customersTotal: null, customersDone: 0 },
};

test("Ctrl+C stops waiting for a recompute, and says how to look at it", async () => {
  const { url } = await cannedServer(json(QUEUED));
  const child = start(["recompute", "--all", "--dry-run", "--project", "p"], { at: url });
  child.stderr.once("data", () => child.kill("SIGINT"));
  expect(await ended(child)).toEqual({
    code: 1,
    stdout: "",
    stderr:
      "Queued rec_1. Ctrl+C stops waiting for it, and nothing else.\n" +
      "error [STOPPED_WAITING]: Waiting was stopped; rec_1 continues. " +
      "See its progress: svc recompute status rec_1 --env test --project p.\n",
  });
});

test.each(["queued", "running"])(
  "Ctrl+C stops waiting for a backtest that is %s, and says how to read it",
  async (status) => {
    const { progress } = QUEUED;
    const job = { id: "bkt_1", status, environment: "live", progress, report: null, model: {}, error: null };
    const { url } = await cannedServer(json(job));
    const child = start(["backtest", "--job", "bkt_1", "--env", "live", "--project", "p"], { at: url });
    child.stderr.once("data", () => child.kill("SIGINT"));
    expect(await ended(child)).toEqual({
      code: 1,
      stdout: "",
      stderr:
        `${status === "queued" ? "Queued" : "Waiting for"} bkt_1. Ctrl+C stops waiting for it; it changes nothing.\n` +
        "error [STOPPED_WAITING]: Waiting was stopped; bkt_1 continues. " +
        "See its result: svc backtest --job bkt_1 --env live --project p.\n",
    });
  },
);

const FORBIDDEN = { code: "FORBIDDEN", message: "Your role does not permit this.", requestId: "r" };

test("no error document is appended to a document that breaks off", async () => {
  const done = { ...QUEUED, status: "completed", result: { customersChanged: 1 } };
  const { url } = await cannedServer(({ url: asked }) =>
    asked.includes("/customers") ? json({ error: FORBIDDEN }, 403) : json(done),
  );
  const argv = ["recompute", "--all", "--dry-run", "--json", "--project", "p"];
  const { code, stdout, stderr } = await run(argv, { at: url });
  expect(code).toBe(1);
  expect(() => JSON.parse(stdout) as unknown).toThrow();
  expect(stdout).not.toContain("FORBIDDEN");
  expect(stderr).toContain("error [FORBIDDEN]: Your role does not permit this.");
});

test("a document is streamed, so memory does not depend on its size", async () => {
  const done = { ...QUEUED, status: "completed", result: { customersChanged: 25 } };
  // More than fits into the memory of the process.
  const PAGES = 25;
  const item = JSON.stringify({ customerId: "globex", pad: "x".repeat(3_000_000) });
  const { url } = await cannedServer(({ url: asked }) => {
    const { pathname, searchParams } = new URL(asked, "http://localhost");
    if (!pathname.endsWith("/customers")) return json(done);
    const next = Number(searchParams.get("cursor") ?? 0) + 1;
    return { status: 200, body: `{"data" : [${item}], "nextCursor" : ${next < PAGES ? `"${next}"` : "null"}}` };
  });
  const argv = ["recompute", "status", "rec_1", "--json", "--customers", "--project", "p"];
  const child = start(argv, { at: url, flags: ["--max-old-space-size=64"] });
  let bytes = 0;
  let end = "";
  child.stdout.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    end = (end + chunk.subarray(-20).toString()).slice(-20);
  });
  const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, "close")]);
  expect({ code: code as number, stderr }).toEqual({ code: 0, stderr: "" });
  expect(bytes).toBeGreaterThan(PAGES * item.length);
  expect(end).toMatch(/x"\}\]\}\}\n$/);
});
