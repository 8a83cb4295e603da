import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, readFile, symlink } from "node:fs/promises";
import path from "node:path";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";

import { PROGRAM } from "./support/program.js";
import { startAcme, untilQuiet } from "./support/shop.js";
import { linkPackages } from "../support/linked-packages.js";

const WALK = fileURLToPath(new URL("../../docs/walk.md", import.meta.url));

let acme: Awaited<ReturnType<typeof startAcme>>;
let env: NodeJS.ProcessEnv;
beforeAll(async () => {
  acme = await startAcme("ada@example.com");
  const { directory } = acme;
  await mkdir(path.join(directory, "bin"));
  await symlink(PROGRAM, path.join(directory, "bin", "svc"));
  // For all projects of the directory.
  await linkPackages(directory);
  const programs = `${path.join(directory, "bin")}:${path.dirname(process.execPath)}:${process.env["PATH"]}`;
  env = { ...acme.env, PATH: programs, HOME: directory, TZ: "UTC" };
});
afterAll(() => acme.stop());

/** Runs one command line in a shell; its directory and exports carry over to the next one. Returns all output. */
async function type(line: string): Promise<string> {
  const { directory } = acme;
  const state = path.join(directory, "state.sh");
  const script = `
    cd '${directory}'; [ -f '${state}' ] && . '${state}'
    { ${line}
    } 2>&1; code=$?
    { export -p; printf 'cd %q\\n' "$PWD"; } > '${state}'
    exit $code`;
  const bash = spawn("bash", ["-c", script], { cwd: directory, env, stdio: ["ignore", "pipe", "inherit"] });
  const [output, [code]] = await Promise.all([text(bash.stdout), once(bash, "close")]);
  expect(code, `${line}\n${output}`).toBe(0);
  return output;
}

/** Replaces what differs from run to run with example values. */
function steady(output: string): string {
  return output
    .replaceAll(acme.url, "http://127.0.0.1:4400")
    .replaceAll(acme.directory, "~")
    .replaceAll(path.resolve(PROGRAM, "../.."), "~/svc")
    .replaceAll(/\b((?:org|tok|usr|key|whk|rec|prv)_)[0-9a-f]{16,}/g, "$15f0c2a9e7b1d4c3a5f0c")
    .replaceAll(/\b((?:evt|emi)_)[0-9a-f]{16}/g, "$10000000000000400")
    .replaceAll(/\b(svc_(?:test|live|token)_)[0-9a-f]+/g, "$1…")
    .replaceAll(/whsec_[A-Za-z0-9+/=]+/g, "whsec_…")
    .replaceAll(/\b[0-9a-f]{64}\b/g, "3f2a9c1b…")
    .replaceAll(/\([0-9a-f]{12}\)/g, "(3f2a9c1b8d7e)")
    .replaceAll(/\b[0-9a-f]{12}$/gm, "3f2a9c1b8d7e")
    .replaceAll(/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, "2026-03-02T10:00:00.000Z")
    .replaceAll(/\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d\d:\d\d/g, "2026-03-02 10:00:00 +00:00")
    .replaceAll(/--cursor [\w-]+/g, "--cursor WyJldmVudHMi")
    .replaceAll(/completed in .*/g, "completed in less than a second")
    .replaceAll(/\b(?:now\b(?=\))|\d+ (?:second|minute)s? ago)/g, "1 second ago")
    .replaceAll(/\(for (?:under a second|\d+ seconds?)\)/g, "(for under a second)")
    .replaceAll(/\b1,\d{3} days/g, "1,400 days")
    .trimEnd();
}

test("docs/walk.md shows what its commands print", { timeout: 180_000 }, async () => {
  const walk = await readFile(WALK, "utf8");
  let written = "";
  let from = 0;
  for (const block of walk.matchAll(/^```console\n([^]*?)^```$/gm)) {
    const shown: string[] = [];
    // A backslash at the end of a line continues the command.
    for (const [, line] of block[1]!.matchAll(/^\$ ((?:.*\\\n)*.*)$/gm)) {
      await untilQuiet(acme.db);
      const output = steady(await type(line!));
      shown.push(`$ ${line}`, ...(output === "" ? [] : [output]), "");
    }
    written += `${walk.slice(from, block.index)}\`\`\`console\n${shown.join("\n").trimEnd()}\n\`\`\``;
    from = block.index + block[0].length;
  }
  // Update by `npx vitest run test/cli/walk.test.ts -u`.
  await expect(written + walk.slice(from)).toMatchFileSnapshot(WALK);
});
