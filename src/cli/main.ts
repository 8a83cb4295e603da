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

// The reader of a pipe may go before all is written, as `head` does: then there is nobody left to tell, unless a secret went with it.
// Anything else, such as a full disk, means that the result is incomplete.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  const { shownOnce } = io;
  if (error.code === "EPIPE" && shownOnce === undefined) process.exit(0);
  const lost = shownOnce === undefined ? "" : `: ${shownOnce.what}, and nothing shows it again`;
  const message = `the output could not be written (${error.code ?? error.message})${lost}`;
  const told = failure("OUTPUT_FAILED", message, shownOnce?.fix ?? "make room, or write it elsewhere");
  void reportFailure(new Out(io, { json: false, noColor: false }), told, "", false).then((code) => process.exit(code));
});

// Nobody reads what is beside the result any more; the result may still be wanted.
process.stderr.on("error", () => undefined);

// Not process.exit: what is still on its way to a pipe would be lost.
process.exitCode = await runCli(process.argv.slice(2), io);

/** What a relative HOME names depends on where one stands, and may be a project: it counts as none. */
async function configDirectory(): Promise<string | null> {
  try {
    const { default: envPaths } = await import("env-paths");
    const { config } = envPaths("svc", { suffix: "" });
    return path.isAbsolute(config) ? config : null;
  } catch {
    // Loading it asks for the home directory, which fails for a user that the machine does not know.
    return null;
  }
}
