import { spawn } from "node:child_process";

import { bundleProject, type Locate, locator } from "./bundle.js";
import type { Diagnostic } from "../diagnostics/diagnostic.js";
import { endDiagnostic, thrownDiagnostic } from "../diagnostics/to-diagnostics.js";
import type { Lowered } from "./lower.js";
import type { RunnerMessage, RunOutcome } from "./runner.js";
import type { GuardedFile } from "../check/guards.js";
import type { TypeChecker } from "../check/checker.js";

/** The module that exports the model. */
export const CONFIG = "svc.config.ts";

/** What came of bundling and running a project's sources. */
export interface Load {
  found: Diagnostic[];
  /** Whether an exception, or a name that is not exported, kept the model from being loaded: a guarded load may go further. */
  failed: boolean;
  lowered?: Lowered;
  /** Finds places, where there was something to run. */
  locate?: Locate;
}

interface LoadOptions {
  timeLimitMs: number;
  onOutput?: (text: string) => void;
}

/** Bundles and runs a project's sources, as they are or as they were rewritten. */
export async function load(root: string, options: LoadOptions, guarded: readonly GuardedFile[] = []): Promise<Load> {
  const bundle = await bundleProject(root, CONFIG, new Map(guarded.map(({ file, text }) => [file, text])));
  if ("errors" in bundle) {
    return { found: bundle.errors, failed: bundle.errors.every(({ code }) => code === "NO_SUCH_EXPORT") };
  }
  const outcome = await runBundle(bundle.code, root, options.timeLimitMs);
  const locate = locator(root, bundle.map, guarded);
  // After a crash the output is the crash report of Node.js, which tells an author nothing.
  const print = options.onOutput ?? ((text: string) => process.stderr.write(text));
  if (outcome.kind !== "ended" && outcome.output !== "") print(outcome.output);
  const told =
    "thrown" in outcome
      ? outcome.thrown.map((one) => thrownDiagnostic(one, locate, bundle.circular))
      : [endDiagnostic(outcome, options.timeLimitMs)];
  const loaded = { found: [...bundle.warnings, ...told], failed: outcome.kind === "failed", locate };
  return outcome.kind === "lowered" ? { ...loaded, lowered: outcome.lowered } : loaded;
}

/** Loads sources that failed with guards, as an exception hides every mistake behind it. The first load is kept where this one is of no help. */
export async function loadGuarded(root: string, types: TypeChecker, first: Load, options: LoadOptions): Promise<Load> {
  const guarded = await types.guard();
  // What the modules print was passed on by the first load, unless that did not get so far.
  const quiet = first.locate ? { ...options, onOutput: () => undefined } : options;
  const second = await load(root, quiet, guarded);
  if (!second.lowered) return first;
  // Names that are not exported were replaced.
  const missing = first.found.filter(({ code }) => code === "NO_SUCH_EXPORT");
  return { ...second, found: [...missing, ...second.found] };
}

/** More than any model needs; a model that fills it would take the machine down. */
const MEMORY_MEBIBYTES = 512;
/** The last of what the modules print is kept, in UTF-16 units. */
const OUTPUT_KEPT = 65_536;

/** Runs a bundled module in a process of its own, so that nothing it does reaches the caller. It is trusted as far as any build script of the author's. */
async function runBundle(code: string, directory: string, timeLimitMs: number): Promise<RunOutcome> {
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
