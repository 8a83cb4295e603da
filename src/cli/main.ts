import path from "node:path";

import { failure } from "./core/errors.js";
import { type Io, Out } from "./output/out.js";
import { reportFailure, runCli } from "./core/run.js";

const io: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  configDirectory,
  now: Date.now,
};

// The reader of a pipe may close it before everything is written, as `head` does. That is no failure, unless a secret was lost with it.
// Any other error, such as a full disk, means that the result is incomplete.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  const { shownOnce } = io;
  if (error.code === "EPIPE" && shownOnce === undefined) process.exit(0);
  const lostNote = shownOnce === undefined ? "" : `: ${shownOnce.what}, and nothing shows it again`;
  const message = `the output could not be written (${error.code ?? error.message})${lostNote}`;
  const reported = failure("OUTPUT_FAILED", message, shownOnce?.fix ?? "make room, or write it elsewhere");
  void reportFailure(new Out(io, { json: false, noColor: false }), reported, "", false).then((code) =>
    process.exit(code),
  );
});

// Notes are no longer read, but the result may still be wanted.
process.stderr.on("error", () => undefined);

// Not process.exit: output still buffered for a pipe would be lost.
process.exitCode = await runCli(process.argv.slice(2), io);

/** A relative HOME depends on the working directory, and may lie inside a project: it counts as missing. */
async function configDirectory(): Promise<string | null> {
  try {
    const { default: envPaths } = await import("env-paths");
    const { config } = envPaths("svc", { suffix: "" });
    return path.isAbsolute(config) ? config : null;
  } catch {
    // Loading the module looks up the home directory, which fails for a user that the machine does not know.
    return null;
  }
}
