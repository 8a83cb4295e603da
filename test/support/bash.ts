import { spawn } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import { expect } from "vitest";

/** Runs a block of a guide unchanged and returns what it prints; fails if one of its commands fails. */
export async function runBash(script: string, env: NodeJS.ProcessEnv, cwd?: string): Promise<string> {
  const bash = spawn("bash", ["-euo", "pipefail", "-c", script], { cwd, env, stdio: ["ignore", "pipe", "inherit"] });
  const [output, [code]] = await Promise.all([text(bash.stdout), once(bash, "close")]);
  expect(code, script).toBe(0);
  return output;
}
