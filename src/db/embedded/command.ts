import { execFile } from "node:child_process";

/** An embedded server that cannot be set up as things are; the message says what to do and needs no stack. */
export class SetupError extends Error {
  override name = "SetupError";
}

/** The system account a program runs under; null is our own. */
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
 * Runs a program to its end and returns what it wrote to stdout. It gets no variable of ours but PATH and TMPDIR: a PGDATA,
 * PGPORT or locale in the environment must not change what PostgreSQL's programs do. It starts in `/`, because another account
 * may not enter our working directory. Throws CommandError.
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
      const said = output === "" ? error.message : output;
      reject(new CommandError(`${file} failed: ${said}`, output, error.code ?? null));
    });
  });
}

/** What asking for a file comes to, or `otherwise` where there is none. */
export async function unlessMissing<T, O>(asking: Promise<T>, otherwise: O): Promise<T | O> {
  try {
    return await asking;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return otherwise;
    throw error;
  }
}
