import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile, rm } from "node:fs/promises";
import path from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { freePort } from "../support/free-port.js";
import { temporaryDirectory } from "../support/server.js";
import { keepLog } from "../support/run-log.js";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

/** Runs a bash script in the project's directory; rejects if it fails. */
async function bash(script: string, env: NodeJS.ProcessEnv): Promise<string> {
  const child = spawn("bash", ["-euo", "pipefail", "-c", script], {
    cwd: ROOT,
    env,
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  let errors = "";
  child.stdout.on("data", (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (errors += chunk.toString()));
  const [code] = (await once(child, "close")) as [number];
  if (code !== 0) throw new Error(`exit code ${code}\n${output}\n${errors}`);
  return output;
}

describe("docs/quickstart.md", () => {
  let service: ChildProcess;
  let env: NodeJS.ProcessEnv;
  let directory: string;

  beforeAll(async () => {
    directory = await temporaryDirectory();
    env = { ...process.env, SVC_DATA_DIR: path.join(directory, "data"), SVC_PORT: "0", LOG_LEVEL: "warn" };
    service = spawn(process.execPath, ["bin/svc-server.js", "start"], {
      cwd: ROOT,
      env: { ...env, LOG_LEVEL: "debug" },
      stdio: ["ignore", "pipe", "pipe"],
    });
    keepLog(service.stderr!, "readme");
    const [line] = (await once(createInterface(service.stdout!), "line")) as [string];
    env["SVC_API_URL"] = line.replace("svc-server listening on ", "");
  }, 60_000);

  afterAll(async () => {
    if (service.exitCode === null) {
      service.kill("SIGTERM");
      await once(service, "exit");
    }
    await rm(directory, { recursive: true, force: true });
  });

  it("has a walk that works as written", { timeout: 60_000 }, async () => {
    // The keys file is put into the temporary directory. A person waits long enough for evaluation between writing and reading; the script polls.
    const script = (await block("svc-server.js bootstrap"))
      .replaceAll("keys.json", `${directory}/keys.json`)
      .replace(/^(svc customers inspect .*)$/m, "until $1 >/dev/null 2>&1; do :; done\n$1");
    const shown = await bash(script, env);
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
    const shown = await bash(script, env);
    expect(shown).toContain('"lifecycle":"trial"');
    // Exactly thirty days after the sign-up.
    expect(shown).toContain('"journey.expired"');
    expect(shown).toContain('"2026-03-31T09:00:00.000Z"');
    expect(shown).toContain('"flipsAt"');
  });
});

/** The block of commands that contains this text. */
async function block(command: string): Promise<string> {
  const page = await readFile(path.join(ROOT, "docs/quickstart.md"), "utf8");
  const blocks = [...page.matchAll(/<!-- test\/e2e\/quickstart\.test\.ts[^\n]*\n\n```bash\n([\s\S]*?)```/g)];
  const found = blocks.map(([, text]) => text!).find((text) => text.includes(command));
  if (found === undefined) throw new Error(`docs/quickstart.md has no block with ${command}`);
  return found;
}
