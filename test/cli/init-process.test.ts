import { once } from "node:events";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import os from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";

import { start } from "./support/program.js";

const WHOAMI = { user: { email: "a@b" }, organization: { id: "org_1", slug: "acme", role: "owner" } };

/** A service that never answers requests of one kind. `asked` resolves when there is such a request. */
async function silentService(method: string): Promise<{ url: string; asked: Promise<void> }> {
  let onAsked = (): void => undefined;
  const asked = new Promise<void>((resolve) => (onAsked = resolve));
  const server = createServer((request, response) => {
    if (request.method === method) return onAsked();
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(WHOAMI));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
}

/** Runs `svc init` in a new directory and sends it a signal once the service was asked. */
async function interrupted(method: string, signal: NodeJS.Signals) {
  const parent = await mkdtemp(path.join(os.tmpdir(), "svc-init-test-"));
  onTestFinished(() => rm(parent, { recursive: true, force: true }));
  const { url, asked } = await silentService(method);
  const child = start(["init", "--yes", "--slug", "shop", "--directory", "a/b"], { cwd: parent, at: url });
  const ended = once(child, "close") as Promise<[number | null, NodeJS.Signals | null]>;
  await asked;
  const during = await readdir(path.join(parent, "a/b"));
  child.kill(signal);
  const [stdout, stderr, [code, killedBy]] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, killedBy, stdout, stderr, during: during.length, after: await readdir(parent) };
}

test.each(["SIGINT", "SIGTERM"] as const)("%s before the project is created leaves nothing", async (signal) => {
  expect(await interrupted("GET", signal)).toEqual({
    code: null,
    killedBy: signal,
    stdout: "",
    stderr: "",
    during: 1,
    after: [],
  });
});

test("Ctrl+C while the project is created leaves nothing here, and says how to see whether it is there", async () => {
  expect(await interrupted("POST", "SIGINT")).toMatchInlineSnapshot(`
    {
      "after": [],
      "code": 1,
      "during": 1,
      "killedBy": null,
      "stderr": "error [OUTCOME_UNKNOWN]: Stopped before the service answered; it is not known whether this was carried out. See for yourself: svc projects list. Where shop is there, \`svc init --existing --slug shop\` writes its starter, and \`svc keys create --name <name> --env test --project shop\` makes a key; where not, run the command again.
    ",
      "stdout": "",
    }
  `);
});
