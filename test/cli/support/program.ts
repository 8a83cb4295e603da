import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import path from "node:path";
import { text } from "node:stream/consumers";

export const PROGRAM = path.resolve(import.meta.dirname, "../../../bin/svc.js");

export interface StartOptions {
  /** The address of a service; a dummy token is set with it. */
  at?: string;
  env?: Record<string, string>;
  cwd?: string;
  uid?: number;
  /** Options of Node.js. */
  flags?: readonly string[];
}

/** Whether the program is installed. */
export const isThere = (program: string): boolean => spawnSync(program, ["--version"]).status === 0;

/** The environment variables of a process, with a dummy token if it works with a service. */
export function variables(at?: string): Record<string, string> {
  const session = { SVC_API_URL: at ?? "", SVC_ACCESS_TOKEN: "t", SVC_ORGANIZATION: "o" };
  return { PATH: process.env["PATH"] ?? "", ...(at === undefined ? {} : session) };
}

/** Starts the program as users do, with empty standard input. */
export function start(
  argv: readonly string[],
  { at, env, flags = [], ...options }: StartOptions = {},
): ChildProcessWithoutNullStreams {
  const child = spawn(process.execPath, [...flags, PROGRAM, ...argv], {
    ...options,
    env: { ...variables(at), ...env },
  });
  child.stdin.end();
  return child;
}

/** The exit code and output of a process, once it has ended. */
export async function ended(child: ChildProcessWithoutNullStreams) {
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, "close")]);
  return { code: code as number | null, stdout, stderr };
}
