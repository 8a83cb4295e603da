import { execFile } from "node:child_process";

/** An embedded server that cannot be set up; the message says what to do and needs no stack. */
export class SetupError extends Error {
  override name = "SetupError";
}

/** The system account that a program runs under; null is our own. */
export interface Account {
  name: string;
  uid: number;
  gid: number;
}

/** A program that exited with an error; `output` is what it wrote, both streams. */
export class CommandError extends Error {
  constructor(
    message: string,
    readonly output: string,
    readonly code: string | number | null,
  ) {
    super(message);
    this.name = "CommandError";
  }
}

/**
 * Runs a program to its end and returns what it wrote to stdout. Of our environment it gets only PATH, TMPDIR and SYSTEMROOT: a PGDATA,
 * PGPORT or locale must not change what PostgreSQL's programs do. It starts in `/`, because another account may not be allowed to enter our
 * working directory. Throws CommandError.
 */
export function runCommand(file: string, args: readonly string[], account: Account | null): Promise<string> {
  const identity = account === null ? {} : { uid: account.uid, gid: account.gid };
  const { PATH, TMPDIR, SYSTEMROOT } = process.env;
  const env = { PATH, TMPDIR, SYSTEMROOT, LC_ALL: "C" };
  const cwd = process.platform === "win32" ? undefined : "/";
  return new Promise((resolve, reject) => {
    execFile(file, args, { ...identity, cwd, env, windowsHide: true }, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`.trim();
      if (error === null) return resolve(stdout);
      const reason = output === "" ? error.message : output;
      reject(new CommandError(`${file} failed: ${reason}`, output, error.code ?? null));
    });
  });
}

/** The result of a file operation, or `otherwise` if the file does not exist. */
export async function unlessMissing<T, O>(operation: Promise<T>, otherwise: O): Promise<T | O> {
  try {
    return await operation;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return otherwise;
    throw error;
  }
}
