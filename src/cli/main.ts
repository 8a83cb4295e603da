import { UserError } from "./errors.js";
import type { LocalCode } from "./errors.js";
import { reportFailure } from "./failure.js";
import type { Io } from "./io.js";
import { Out } from "./out.js";
import { run } from "./run.js";

const io: Io = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  env: process.env,
  cwd: process.cwd(),
  now: Date.now,
};

// The reader of a pipe may go before all is written, as `head` does: then there is nobody left to tell. Anything else, such as a
// full disk, means that the result is incomplete.
process.stdout.on("error", (error: NodeJS.ErrnoException) => {
  if (error.code === "EPIPE") process.exit(0);
  const failure = new UserError(
    "OUTPUT_FAILED" satisfies LocalCode,
    `the output could not be written (${error.code ?? error.message})`,
    "make room, or write it elsewhere",
  );
  process.exit(reportFailure(new Out(io, { json: false, noColor: false }), failure, "", false));
});

// Not process.exit: what is still on its way to a pipe would be lost.
process.exitCode = await run(process.argv.slice(2), io);
