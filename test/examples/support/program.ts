import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import path from "node:path";

const DIRECTORY = path.resolve(import.meta.dirname, "../../../examples/backfill");

/** What a run printed, but for its progress, and how it ended: its exit code, or the signal that ended it. */
export interface Outcome {
  stdout: string;
  stderr: string;
  code: number | NodeJS.Signals;
}

export interface ProgramOptions {
  cwd: string;
  env?: Readonly<Record<string, string>>;
  /** On standard input, which is empty otherwise. */
  input?: string;
  /** Is given the process at its start. */
  onStart?: (child: ChildProcess) => void;
  /** The most that a file may grow to, in blocks; pipes are none. */
  fileBlocksMax?: number;
}

/** Runs `node backfill.mjs` as a person does. Time is told in UTC. */
export async function backfill(
  args: readonly string[],
  { cwd, env = {}, input = "", onStart, fileBlocksMax }: ProgramOptions,
): Promise<Outcome> {
  const command = [process.execPath, path.join(DIRECTORY, "backfill.mjs"), ...args];
  const limit = ["sh", "-c", `trap '' XFSZ; ulimit -f ${fileBlocksMax}; exec "$@"`, "sh"];
  const [program, ...argv] = fileBlocksMax === undefined ? command : [...limit, ...command];
  const child = spawn(program!, argv, { cwd, env: { PATH: process.env["PATH"], ...env } });
  onStart?.(child);
  // It need not read what it does not want.
  child.stdin.on("error", () => undefined).end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { stdout: withoutProgress(stdout), stderr, code: child.signalCode ?? child.exitCode! };
}

/** A file beside the program. */
export const beside = (name: string): string => path.join(DIRECTORY, name);

/** How far it is, is told where that takes longer than some seconds. */
export function withoutProgress(output: string): string {
  return output.replaceAll(/^.*(\d a second(, about .* left)?|wait for evaluation)\n/gm, "");
}
