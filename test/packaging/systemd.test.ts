import { execFile } from "node:child_process";
import { cp, readdir, readFile, writeFile } from "node:fs/promises";
import path from "node:path";
import { promisify } from "node:util";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { INSTALL_MS_MAX, installed } from "../support/debian.js";
import { useDirectory } from "../support/directory.js";

// The units as systemd parses them. systemd does not run in containers, so they are not started here; package.test.ts runs their commands.

const ROOT = path.resolve(import.meta.dirname, "../..");
const ANALYZE = "/usr/bin/systemd-analyze";
/** The maximal exposure, out of 100, in `systemd-analyze security`: the service needs the network, and executable memory for compiled code. */
const EXPOSURE_MAX = 20;
const UNITS = ["svc-all.service", "svc-http@4400.service", "svc-worker@1.service"];

const directory = await useDirectory();
let skipped: string | null;
beforeAll(async () => {
  skipped = await installed(ANALYZE, ["systemd"]);
  await cp(path.join(ROOT, "deploy/systemd"), directory, { recursive: true });
  for (const name of await readdir(directory)) {
    if (!name.endsWith(".service")) continue;
    const file = path.join(directory, name);
    const text = await readFile(file, "utf8");
    const moved = text
      .replace("/usr/bin/node", process.execPath)
      .replace("/opt/svc/node_modules/svc-success-server", ROOT);
    await writeFile(file, moved);
  }
}, INSTALL_MS_MAX);
beforeEach((context) => {
  if (skipped !== null) context.skip(skipped);
});

/** The output of systemd-analyze; rejects if it finds a fault. */
async function analyze(...argv: string[]): Promise<string> {
  const env = { PATH: process.env["PATH"], SYSTEMD_UNIT_PATH: `${directory}:` };
  const { stdout, stderr } = await promisify(execFile)(ANALYZE, argv, { cwd: directory, env });
  return stdout + stderr;
}

test("systemd finds no fault in the units", async () => {
  expect(await analyze("verify", "--man=no", ...UNITS)).toBe("");
});

test.each(UNITS)("%s has few privileges", async (unit) => {
  const file = path.join(directory, unit.replace(/@.*\./, "@."));
  const security = ["security", "--no-pager", "--offline=true", `--threshold=${EXPOSURE_MAX}`];
  expect(await analyze(...security, file)).toMatch(/Overall exposure level for \S+: \d\.\d OK/);
});
