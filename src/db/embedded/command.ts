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

/** Codes of the system and of PostgreSQL for a disk without space. */
const FULL = ["ENOSPC", "EDQUOT", "53100"];

/**
 * The SetupError for a failure to make a database in the data directory, if the operator can remove its cause: a disk without space, or whatever
 * initdb complains of. Other errors unchanged.
 */
export function makingFailure(directory: string, error: unknown): unknown {
  const { code, message } = error as { code?: string; message: string };
  if (code !== undefined && FULL.includes(code)) return tooSmall(directory, message, error);
  if (!(error instanceof CommandError)) return error;
  const reason = complaintOf(error);
  if (reason.includes("No space left on device")) return tooSmall(directory, reason, error);
  return new SetupError(
    `PostgreSQL cannot make a database in ${directory} (${reason}); correct that, or set SVC_DATA_DIR to another directory`,
    { cause: error },
  );
}

function tooSmall(directory: string, reason: string, cause: unknown): SetupError {
  return new SetupError(
    `there is too little space in ${directory} for a new database (${reason}); ` +
      "it takes 100 MB: free as much there, or set SVC_DATA_DIR to a directory on another disk",
    { cause },
  );
}

/** Before its complaint initdb writes twenty lines about what it does, and after it what it removes. */
function complaintOf({ output, message }: CommandError): string {
  const complaints = Array.from(output.matchAll(/(?:LOG|FATAL|PANIC|ERROR|error): +(.+)/g), ([, text]) => text);
  const lines = complaints.length > 0 ? complaints : (output || message).split("\n");
  return lines.slice(-3).join(" | ");
}
