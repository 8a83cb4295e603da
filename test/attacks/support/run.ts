import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import path from "node:path";
import { fileURLToPath } from "node:url";
import type { Attacked, Outcome } from "../../../attacks/outcome.js";

const ROOT = fileURLToPath(new URL("../../..", import.meta.url));

/** Starts `npm run attacks`, whose data are in the directory. */
export function startAttacks(directory: string, args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ["--import", "tsx", "attacks/main.ts", ...args], {
    cwd: ROOT,
    env: { ...process.env, TMPDIR: directory },
    stdio: ["ignore", "pipe", "inherit"],
  });
}

/** All at once for a few seconds. How long anything took is for nobody to look at: it depends on the machine. */
export async function attackAtOnce(
  directory: string,
  names: readonly string[],
): Promise<{ outcome: Outcome; each: Attacked[] }> {
  const file = path.join(directory, "outcome.json");
  const args = ["--only", names.join(","), "--all-at-once", "--minutes", "0.1", "--json", file];
  const child = startAttacks(directory, args);
  child.stdout!.resume();
  await once(child, "exit");
  const { outcomes, each } = JSON.parse(await readFile(file, "utf8")) as { outcomes: [Outcome]; each: Attacked[] };
  return { outcome: outcomes[0], each };
}
