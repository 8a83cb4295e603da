/** `npm run demo`: the whole pipeline on one machine, and what a success team sees of it. Exits 0, 1 (failed) or 2 (usage). */
import { DemoFailure, messageOf } from "./failure.js";
import { readOptions } from "./options.js";
import { runDemo } from "./run.js";

const stop = new AbortController();
/** The signal that asked the demo to stop, where one did. */
let asked: NodeJS.Signals | null = null;
for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.on(signal, () => {
    asked ??= signal;
    stop.abort(new DemoFailure(`stopped by ${signal}`));
  });
}

try {
  const options = await readOptions(process.argv.slice(2), Date.now(), (text) => process.stdout.write(text));
  if (options !== null) await runDemo(options, { output: process.stdout, stop: stop.signal });
} catch (error) {
  process.exitCode = exitCode(error);
}

/** Prints why, and returns the code. */
function exitCode(error: unknown): number {
  if (asked !== null && error === stop.signal.reason) {
    process.stdout.write("\nstopped; the data is removed\n");
    return asked === "SIGINT" ? 130 : 143;
  }
  if (error instanceof DemoFailure) {
    process.stderr.write(`demo: ${error.message}\n`);
    return error.exitCode;
  }
  process.stderr.write(
    `demo: this is a bug: ${error instanceof Error ? (error.stack ?? messageOf(error)) : messageOf(error)}\n`,
  );
  return 1;
}
