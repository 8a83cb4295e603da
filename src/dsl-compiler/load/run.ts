import { spawn } from "node:child_process";

import type { RunnerMessage } from "./runner.js";

/** How a run of the author's modules ended. */
export type RunOutcome =
  | (RunnerMessage & { output: string })
  | { kind: "timedOut"; output: string }
  | { kind: "ended"; how: string; output: string };

/** More than any model needs; a model that fills it would take the machine down. */
const MEMORY_MEBIBYTES = 512;
/** The last of what the modules print is kept, in UTF-16 units. */
const OUTPUT_KEPT = 65_536;

/** Runs a bundled module in a process of its own, so that nothing it does reaches the caller. It is trusted as far as any build script of the author's. */
export async function runBundle(code: string, directory: string, timeLimitMs: number): Promise<RunOutcome> {
  const child = spawn(process.execPath, [`--max-old-space-size=${MEMORY_MEBIBYTES}`, "--input-type=module", "-"], {
    cwd: directory,
    stdio: ["pipe", "pipe", "pipe", "ipc"],
  });
  let output = "";
  const keep = (text: string) => (output = (output + text).slice(-OUTPUT_KEPT));
  child.stdout!.setEncoding("utf8").on("data", keep);
  child.stderr!.setEncoding("utf8").on("data", keep);
  // A process that dies before it has read its program is reported by its end.
  child.stdin!.on("error", () => undefined);
  child.stdin!.end(code);

  return new Promise((resolve, reject) => {
    let result: ((output: string) => RunOutcome) | undefined;
    const settle = (outcome: (output: string) => RunOutcome) => {
      result ??= outcome;
      child.kill("SIGKILL");
    };
    // A model that loops would outlive the compiler.
    const end = () => child.kill("SIGKILL");
    process.once("exit", end);
    const timer = setTimeout(() => settle((output) => ({ kind: "timedOut", output })), timeLimitMs);
    child.on("message", (message: RunnerMessage) => settle((output) => ({ ...message, output })));
    child.on("error", reject);
    child.on("close", (exitCode, signal) => {
      clearTimeout(timer);
      process.off("exit", end);
      const how = signal === null ? `with exit code ${exitCode}` : `by ${signal}`;
      resolve(result ? result(output) : { kind: "ended", how, output });
    });
  });
}
