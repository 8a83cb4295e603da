/** A failure of the demo that its user can act on: printed as one line, without a stack. */
export class DemoFailure extends Error {
  override readonly name = "DemoFailure";

  /** @param exitCode 1 where something failed, 2 where the command line or the input is wrong */
  constructor(
    message: string,
    readonly exitCode: 1 | 2 = 1,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  // Node.js and undici wrap network errors.
  const inner = error.cause instanceof Error && !(error instanceof DemoFailure) ? ` (${messageOf(error.cause)})` : "";
  return `${error.message || error.name}${inner}`;
}

class Stopped extends DemoFailure {
  constructor(readonly signal: "SIGINT" | "SIGTERM") {
    super(`stopped by ${signal}`);
  }
}

/**
 * Runs a program with a signal that the first SIGINT or SIGTERM aborts; a stopped program must end and clean up everything. Sets the exit
 * code: 0, that of a DemoFailure, 128 plus the signal's number, or 1. Prints the reason with the program's name.
 */
export async function runProgram(name: string, run: (stop: AbortSignal) => Promise<void>): Promise<void> {
  const stop = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => stop.abort(new Stopped(signal)));
  try {
    await run(stop.signal);
  } catch (error) {
    process.exitCode = report(name, error);
  }
}

function report(name: string, error: unknown): number {
  if (error instanceof Stopped) {
    process.stdout.write("\nstopped; everything was ended and removed\n");
    return error.signal === "SIGINT" ? 130 : 143;
  }
  if (error instanceof DemoFailure) {
    process.stderr.write(`${name}: ${error.message}\n`);
    return error.exitCode;
  }
  const stack = error instanceof Error ? error.stack : undefined;
  process.stderr.write(`${name}: this is a bug: ${stack ?? messageOf(error)}\n`);
  return 1;
}
