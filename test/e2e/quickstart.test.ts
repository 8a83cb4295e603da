import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runBash } from "../support/bash.js";
import { docBlocks } from "../support/doc-blocks.js";
import { freePort } from "../support/free-port.js";
import { temporaryDirectory } from "../support/server.js";
import { startServiceProcess, type ServiceProcess } from "../support/service-process.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

describe("docs/quickstart.md", () => {
  let service: ServiceProcess;
  let env: NodeJS.ProcessEnv;
  let directory: string;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    const SVC_DATA_DIR = path.join(directory, "data");
    service = await startServiceProcess("", { SVC_DATA_DIR, SVC_SECRET: "" });
    env = { ...process.env, SVC_DATA_DIR, SVC_PORT: "0", LOG_LEVEL: "warn", SVC_API_URL: service.url };
  }, 60_000);

  afterAll(async () => {
    await service.end();
    await rm(directory, { recursive: true, force: true });
  });

  it("has a walk that works as written", { timeout: 60_000 }, async () => {
    // The keys file is put into the temporary directory. A person waits long enough for evaluation between writing and reading; the script polls.
    const script = (await block("svc-server.js bootstrap"))
      .replaceAll("keys.json", `${directory}/keys.json`)
      .replace(/^(svc customers inspect .*)$/m, "until $1 >/dev/null 2>&1; do :; done\n$1");
    const shown = await runBash(script, env, ROOT);
    expect(shown).toContain('"accepted":2,"rejected":0');
    expect(shown).toContain("globex");
    expect(shown).toContain("customer.created");
    expect(shown).toMatch(/new\s+1/);
  });

  it("shows a month of the local engine in a second", { timeout: 60_000 }, async () => {
    const port = String(await freePort());
    const script = (await block("svc.js dev"))
      .replaceAll("4401", port)
      .replace("svc.js dev", `svc.js dev --port ${port}`);
    const shown = await runBash(script, env, ROOT);
    expect(shown).toContain('"lifecycle":"trial"');
    // Exactly thirty days after the sign-up.
    expect(shown).toContain('"journey.expired"');
    expect(shown).toContain('"2026-03-31T09:00:00.000Z"');
    expect(shown).toContain('"flipsAt"');
  });
});

/** The block of commands that contains this text. */
async function block(command: string): Promise<string> {
  const page = docBlocks(await readFile(path.join(ROOT, "docs/quickstart.md"), "utf8"));
  const tested = page.filter(({ heldBy }) => heldBy.includes("test/e2e/quickstart.test.ts"));
  return tested.find(({ code }) => code.includes(command))!.code;
}
