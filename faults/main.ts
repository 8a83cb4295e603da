/** `npm run faults`: proves that nothing accepted is lost or doubled. Exits 0, 1 (something differs or failed) or 2 (usage). */
import { DemoFailure, messageOf } from "../src/demo/failure.js";
import { readOptions } from "./options.js";
import { runFaults } from "./run.js";

const stop = new AbortController();
let asked: NodeJS.Signals | null = null;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    asked ??= signal;
    stop.abort(new DemoFailure(`stopped by ${signal}`));
  });
}

try {
  const options = await readOptions(process.argv.slice(2), (text) => process.stdout.write(text));
  if (options !== null) await runFaults(options, { output: process.stdout, stop: stop.signal });
} catch (error) {
  process.exitCode = exitCode(error);
}

/** Prints why, and returns the code. */
function exitCode(error: unknown): number {
  if (asked !== null && error === stop.signal.reason) {
    process.stdout.write("\nstopped; everything is ended and removed\n");
    return asked === "SIGINT" ? 130 : 143;
  }
  const bug = !(error instanceof DemoFailure);
  process.stderr.write(
    `faults: ${bug && error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}\n`,
  );
  return bug ? 1 : error.exitCode;
}
