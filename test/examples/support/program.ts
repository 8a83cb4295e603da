import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { text } from "node:stream/consumers";
import path from "node:path";

const DIRECTORY = path.resolve(import.meta.dirname, "../../../examples/backfill");

/** The output of a run without its progress, and its exit code, or the signal that ended it. */
export interface Outcome {
  stdout: string;
  stderr: string;
  code: number | NodeJS.Signals;
}

export interface ProgramOptions {
  cwd: string;
  env?: Readonly<Record<string, string>>;
  /** Standard input; empty by default. */
  input?: string;
  /** Called with the process when it starts. */
  onStart?: (child: ChildProcess) => void;
  /** The maximal file size in blocks; does not apply to pipes. */
  fileBlocksMax?: number;
}

/** Runs `node backfill.mjs` like a user, in UTC. */
export async function backfill(
  args: readonly string[],
  { cwd, env = {}, input = "", onStart, fileBlocksMax }: ProgramOptions,
): Promise<Outcome> {
  const command = [process.execPath, path.join(DIRECTORY, "backfill.mjs"), ...args];
  const limit = ["sh", "-c", `trap '' XFSZ; ulimit -f ${fileBlocksMax}; exec "$@"`, "sh"];
  const [program, ...argv] = fileBlocksMax === undefined ? command : [...limit, ...command];
  const child = spawn(program!, argv, { cwd, env: { PATH: process.env["PATH"], ...env } });
  onStart?.(child);
  // The program can end without reading its input.
  child.stdin.on("error", () => undefined).end(input);
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { stdout: withoutProgress(stdout), stderr, code: child.signalCode ?? child.exitCode! };
}

/** The path of a file next to the program. */
export const beside = (name: string): string => path.join(DIRECTORY, name);

/** Removes progress lines, which slow runs print. */
export function withoutProgress(output: string): string {
  return output.replaceAll(/^.*(\d a second(, about .* left)?|wait for evaluation)\n/gm, "");
}
