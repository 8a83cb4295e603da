import { spawn } from "node:child_process";

import { bundleProject, type FileObserver, type Locate, locator } from "./bundle.js";
import type { Diagnostic } from "../diagnostics/diagnostic.js";
import { endDiagnostic, thrownDiagnostic } from "../diagnostics/to-diagnostics.js";
import type { Lowered } from "./lower.js";
import type { RunnerMessage, RunOutcome } from "./runner.js";
import type { GuardedFile } from "../check/exception-guards.js";
import type { TypeChecker } from "../check/checker.js";

/** The module that exports the model. */
export const CONFIG = "svc.config.ts";

/** The result of bundling and running a project's sources. */
export interface Load {
  found: Diagnostic[];
  /** Whether an exception, or a name that is not exported, prevented the load: a guarded load may get further. */
  failed: boolean;
  lowered?: Lowered;
  /** Finds places; undefined if the sources could not be bundled. */
  locate?: Locate;
}

export interface LoadOptions extends FileObserver {
  /** How long the author's modules may take to load, in milliseconds. */
  timeLimitMs: number;
  /** Receives what the author's modules print; by default it goes to standard error. */
  onOutput?: (text: string) => void;
}

/** Bundles and runs a project's sources, with the rewritten files of `guarded` in place of the originals. */
export async function load(root: string, options: LoadOptions, guarded: readonly GuardedFile[] = []): Promise<Load> {
  const replaced = new Map(guarded.map(({ file, text }) => [file, text]));
  const bundle = await bundleProject(root, CONFIG, { ...options, replaced });
  if ("errors" in bundle) {
    return { found: bundle.errors, failed: bundle.errors.every(({ code }) => code === "NO_SUCH_EXPORT") };
  }
  const outcome = await runBundle(bundle.code, root, options.timeLimitMs);
  const locate = locator(root, bundle.map, guarded);
  // After a crash the output is the crash report of Node.js, which does not help an author.
  const print = options.onOutput ?? ((text: string) => process.stderr.write(text));
  if (outcome.kind !== "ended" && outcome.output !== "") print(outcome.output);
  const ending =
    "thrown" in outcome
      ? outcome.thrown.map((one) => thrownDiagnostic(one, locate, bundle.circular))
      : [endDiagnostic(outcome, options.timeLimitMs)];
  const loaded = { found: [...bundle.warnings, ...ending], failed: outcome.kind === "failed", locate };
  return outcome.kind === "lowered" ? { ...loaded, lowered: outcome.lowered } : loaded;
}

/** Loads sources that failed once more with guards, because an exception hides every mistake after it. Returns the first load if this one fails, too. */
export async function loadGuarded(root: string, types: TypeChecker, first: Load, options: LoadOptions): Promise<Load> {
  const guarded = await types.guard();
  // The first load has printed the output of the modules already, if it ran them.
  const quiet = first.locate ? { ...options, onOutput: () => undefined } : options;
  const second = await load(root, quiet, guarded);
  if (!second.lowered) return first;
  // The guarded sources have placeholders for names that are not exported, so this load does not report them.
  const missing = first.found.filter(({ code }) => code === "NO_SUCH_EXPORT");
  return { ...second, found: [...missing, ...second.found] };
}

/** More than any model needs. Without a limit, a faulty model could exhaust the machine's memory. */
const MEMORY_MEBIBYTES = 512;
/** How much of the end of the modules' output is kept, in UTF-16 units. */
const OUTPUT_KEPT = 65_536;

/** Runs a bundled module in a separate process, so that it cannot affect the caller. It is trusted like any build script of the author. */
async function runBundle(code: string, directory: string, timeLimitMs: number): Promise<RunOutcome> {
  const child = spawn(process.execPath, [`--max-old-space-size=${MEMORY_MEBIBYTES}`, "--input-type=module", "-"], {
    cwd: directory,
    stdio: ["pipe", "pipe", "pipe", "ipc"],
  });
  let output = "";
  const keep = (text: string) => (output = (output + text).slice(-OUTPUT_KEPT));
  child.stdout!.setEncoding("utf8").on("data", keep);
  child.stderr!.setEncoding("utf8").on("data", keep);
  // A process that dies before it has read its program is reported by its "close" event.
  child.stdin!.on("error", () => undefined);
  child.stdin!.end(code);

  return new Promise((resolve, reject) => {
    let result: ((output: string) => RunOutcome) | undefined;
    const settle = (outcome: (output: string) => RunOutcome) => {
      result ??= outcome;
      child.kill("SIGKILL");
    };
    // A model in an endless loop would outlive the compiler.
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
